import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Occurrence, occurrencesIn } from '../../../src/features/workdir/occurrences.ts';
import {
  agentStatus,
  freshIn,
  withEvents,
  withHandOvers,
  withLog,
} from '../../../src/features/workdir/reports.ts';
import type { TaskFile } from '../../../src/features/workdir/task-file.ts';
import { given, HOUR_MS, NOW_MS, planned, result } from './workdir-facts.ts';

const at = (hours: number) => NOW_MS + hours * HOUR_MS;
const ended = given('done/p.yaml', {
  assigned_at_ms: at(-5),
  started_at_ms: at(-4),
  completed_at_ms: at(-3),
  follow_up: 'q',
  ...result('bob', { summary: 'two | three\n<b>four</b>' }),
});
const follow = given('assigned/bob/q.yaml', {
  title: 'Go on',
  artefacts: ['a.md', 'b/'],
  created_at_ms: at(-2),
  assigned_at_ms: at(-2),
});
const FILES = [ended, follow];
const of = (files: readonly TaskFile[]) => occurrencesIn(files, planned(files).findings);
const logged = (occurrences: readonly Occurrence[], text?: string) => withLog(text, occurrences) ?? '';
const eventsOf = (occurrences: readonly Occurrence[], text?: string) =>
  withEvents(text, freshIn(occurrences, text)) ?? '';

test('[DIR-5] the workflow log has the seed’s lines, in the order of time', () => {
  assert.equal(
    logged(of(FILES)),
    `# Workflow Log

**2026-03-10 07:00:00 UTC** - Assigned p to ann

**2026-03-10 08:00:00 UTC** - Started p by ann

**2026-03-10 09:00:00 UTC** - Completed p by ann

**2026-03-10 10:00:00 UTC** - Handed over p from ann to bob: q

**2026-03-10 10:00:00 UTC** - Assigned q to bob
`,
  );
});

test('[DIR-5] a hand-off is told with both agents, the follow-up’s id and what is to be done; nothing in it is markup', () => {
  assert.equal(
    withHandOvers(undefined, FILES),
    `# Hand-offs

## 2026-03-10 10:00:00 UTC - ann → bob

- Done: p
- Follow-up: q
- Title: Go on
- Artefacts: a.md, b/
- Summary: two \\| three \\<b\\>four\\</b\\>
`,
  );
});

test('[DIR-5] the JSON log has one line for each occurrence', () => {
  const lines = eventsOf(of(FILES)).trim().split('\n');
  assert.deepEqual(
    lines.map((line) => {
      const { at: time, type, task, follow_up } = JSON.parse(line) as Record<string, string>;
      return [time?.slice(11, 16), type, task, follow_up];
    }),
    [
      ['07:00', 'assigned', 'p', undefined],
      ['08:00', 'started', 'p', undefined],
      ['09:00', 'completed', 'p', undefined],
      ['10:00', 'handed_over', 'p', 'q'],
      ['10:00', 'assigned', 'q', undefined],
    ],
  );
});

test('[DIR-5] a second time nothing is added, also where lines end as on Windows', () => {
  const occurrences = of(FILES);
  for (const ending of ['\n', '\r\n']) {
    const as = (text = '') => text.replaceAll('\n', ending);
    const [log, hand, events] = [
      as(logged(occurrences)),
      as(withHandOvers(undefined, FILES)),
      as(eventsOf(occurrences)),
    ];
    assert.equal(logged(occurrences, log), log);
    assert.equal(withHandOvers(hand, FILES), hand);
    assert.equal(eventsOf(occurrences, events), events);
  }
});

test('[DIR-5] every id that a task may have is found again among the hand-offs', () => {
  const id = '2026-03-01T09:30+01-bob@x.y_z';
  const files = [
    { ...ended, task: { ...ended.task, follow_up: id } },
    { ...follow, task: { ...follow.task, id } },
  ];
  const once = withHandOvers(undefined, files);
  assert.equal(withHandOvers(once, files), once);
});

test('[DIR-5] whose task it is by now makes no second line of an old occurrence', () => {
  const [log, events] = [logged(of(FILES)), eventsOf(of(FILES))];
  const handed = { ...ended, path: 'done/zoe/p.yaml', folder: 'zoe', task: { ...ended.task, agent: 'zoe' } };
  const now = of([handed, follow]).filter(({ type }) => type !== 'handed_over');
  assert.deepEqual(freshIn(now, events), []);
  assert.equal(logged(now, log), log);
});

test('[DIR-5] what a person wrote into a report stays, and what is new goes behind it', () => {
  const written = '# Our log\n\n**2026-03-01 00:00:00 UTC** - We began.\nno end of line';
  const text = logged(of([follow]), written);
  assert.equal(text, `${written}\n\n**2026-03-10 10:00:00 UTC** - Assigned q to bob\n`);
});

test('[DIR-5] who cuts off the beginning of a log does not get it back', () => {
  const occurrences = of(FILES);
  const cut = (text: string, line: string) => text.slice(text.indexOf(line));
  const log = cut(logged(occurrences), '**2026-03-10 09');
  assert.equal(logged(occurrences, log), log);
  const events = cut(eventsOf(occurrences), '{"at":"2026-03-10T09');
  assert.equal(eventsOf(occurrences, events), events);
});

test('[DIR-4] what is wrong is told even if it is older than the log', () => {
  const events = eventsOf(of([follow]));
  const failed = given('assigned/ann/late.yaml', {
    status: 'error',
    assigned_at_ms: undefined,
    error: { message: 'no', at_ms: at(-9) },
  });
  const fresh = freshIn(of([follow, failed]), events);
  assert.deepEqual(
    fresh.map(({ type, task }) => [type, task]),
    [['error', 'late']],
  );
  assert.match(
    logged(of([follow, failed]), logged(of([follow]))),
    /03:00:00 UTC\*\* - Task late in error: no/,
  );
});

test('[DIR-5] the status names every agent, what it has and when it gave its last sign; the same files, the same text', () => {
  const working = given('assigned/ann/w.yaml', {
    title: 'Work `on` it',
    status: 'in_progress',
    started_at_ms: at(-1),
  });
  const failed = given('assigned/ann/e.yaml', { status: 'error', error: { message: 'no', at_ms: at(-1) } });
  const files = [
    failed,
    working,
    ended,
    follow,
    given('fridge/f.yaml'),
    given('inbox/i.yaml', { dependencies: ['e'] }),
  ];
  const { findings } = planned(files);
  const problems = [{ file: 'inbox/bad.yaml', line: 3, field: 'status', reason: 'one of new, …' }];
  const text = agentStatus({ files, agents: ['bob', 'ann'], findings, problems });
  assert.equal(
    text,
    `# Agent Status

_Last change: 2026-03-10 11:00:00 UTC. Written by \`cox coordinate\`._

Inbox 1, assigned 3, done 1, in the fridge 1.

## ann

- Status: Working
- Tasks: 0 assigned, 1 in progress, 1 in error, 1 done
- Last activity: 2026-03-10 11:00:00 UTC
- In progress: w, Work \\\`on\\\` it
- In error: e

## bob

- Status: Has work
- Tasks: 1 assigned, 0 in progress, 0 in error, 0 done
- Last activity: none yet

## Needs attention

- i waits for e (error)
- Task e in error: no
- inbox/bad.yaml:3: status: one of new, …
`,
  );
  assert.equal(agentStatus({ files: files.toReversed(), agents: ['ann', 'bob'], findings, problems }), text);
});
