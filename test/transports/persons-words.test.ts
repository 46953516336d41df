import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { main } from '../../src/transports/cli/main.ts';
import { fakeTerminal, type Scratch, scratch } from './support.ts';

/** What an entry of the edge `design→code` becomes: lines that go, and lines that come in their place. */
interface Style {
  readonly text: string;
  readonly lines: readonly [gone: string, put: string][];
}

const BLOCK = 'iteration: 3\nstarted_at: TIME\nconverged_at: TIME';
const FLOW = 'iteration: 3, started_at: TIME, converged_at: TIME';

/** With the blanks, quotes and comments that people have. `ID` is the feature. */
const STYLES: readonly Style[] = [
  {
    text: 'feature: ID   # block\nstatus:   in_progress\ntrajectory:\n  design:  {status: converged,iteration: 2 }   # long ago\n  code:\n    status:   pending      # soon\n    owner:  "alice"   # knows more\n\n  unit_tests:\n    status: pending\n\nnotes: |\n  first\n\n  last\n',
    lines: [['    status:   pending      # soon', indented('status:   converged      # soon', BLOCK)]],
  },
  {
    text: '# four blanks\nfeature:     ID\ntrajectory:\n    design:\n        status: converged\n    # the hard one\n    code:   # with bob\n    unit_tests:\n        status: pending\nx_own:   [ a,   b ]\n',
    lines: [['', `        status: converged\n${BLOCK.replaceAll(/^/gm, '        ')}`]],
  },
  {
    text: 'feature: ID\nstatus: in_progress\ntrajectory:\n  design: { status: converged }\n  code:   {  status:  iterating,   owner: bob  }   # flow\n  unit_tests: {status: pending}\n',
    lines: [
      [
        '  code:   {  status:  iterating,   owner: bob  }   # flow',
        `  code:   {  status:  converged, ${FLOW},   owner: bob  }   # flow`,
      ],
    ],
  },
  {
    text: 'feature: ID\ntrajectory: {design: {status: converged}, code: {}, unit_tests: pending}   # one line\nlast:   1\n',
    lines: [
      [
        'trajectory: {design: {status: converged}, code: {}, unit_tests: pending}   # one line',
        `trajectory: {design: {status: converged}, code: { status: converged, ${FLOW} }, unit_tests: pending}   # one line`,
      ],
    ],
  },
  {
    text: '{\n  "feature":   "ID",\n  "trajectory": {\n    "design": {"status": "converged"},\n    "code": {\n      "status":   "pending"\n    },\n    "unit_tests": {"status": "pending"}\n  }\n}\n',
    lines: [
      [
        '      "status":   "pending"',
        '      "status":   "converged",\n      "iteration": 3,\n      "started_at": "TIME",\n      "converged_at": "TIME"',
      ],
    ],
  },
  {
    text: "feature: 'ID'\r\nstatus: 'in_progress'\r\ntrajectory:\r\n  design→code:   # by its edge\r\n    status: 'pending'   # soon\r\n  code→unit_tests:\r\n    status: 'pending'\r\n",
    lines: [
      [
        "    status: 'pending'   # soon",
        indented("status: 'converged'   # soon", BLOCK).replaceAll('\n', '\r\n'),
      ],
    ],
  },
  {
    text: 'feature: ID\ntrajectory:\n  design: converged\n  code:    pending   # short\n  unit_tests: pending',
    lines: [['  code:    pending   # short', '  code:    converged   # short']],
  },
  {
    text: 'feature: ID\nshared: &who   { name: alice }   # an anchor beside it\ntrajectory:\n  design: {status: converged, owner: *who}\n  unit_tests: {status: pending}   # no code yet\nowner:   *who\n',
    lines: [['', `  code: { status: converged, ${FLOW} }`]],
  },
];

function indented(first: string, more: string): string {
  return `${first}\n${more}`.replaceAll(/^/gm, '    ');
}

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** The lines that only one of the two texts has, as far as their beginning and end are the same. */
function difference(before: string, after: string): [gone: string, put: string] {
  const [a, b] = [before.split(/(?<=\n)/), after.split(/(?<=\n)/)];
  let from = 0;
  while (from < a.length && a[from] === b[from]) from += 1;
  let end = 0;
  while (end < a.length - from && end < b.length - from && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const said = (lines: string[]) =>
    lines
      .slice(from, lines.length - end)
      .join('')
      .replace(/\r?\n$/, '');
  return [said(a), said(b).replaceAll(TIME, 'TIME')];
}

const name = (index: number) => `F-${String(index).padStart(2, '0')}`;
const fileOf = (place: Scratch, index: number) =>
  join(
    place.folder,
    '.ai-workspace',
    'features',
    index % 2 === 0 ? 'active' : 'active/team',
    `${name(index)}.yml`,
  );

async function said(place: Scratch, ...words: string[]): Promise<JsonObject> {
  const { terminal, written } = fakeTerminal(place.folder, {
    COX_STORE: place.store,
    AGENT_ID: 'ann',
    AGENT_ROLE: 'full_stack',
  });
  await main([...words, '--json'], terminal);
  return JSON.parse(written.out) as JsonObject;
}

function hashes(place: Scratch): Map<string, string> {
  const folder = join(place.folder, '.ai-workspace', 'features');
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((each) =>
    each.endsWith('.yml'),
  );
  const hash = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex');
  return new Map(files.map((file) => [file, hash(file)]));
}

/** Sixty features in all styles; the log has claims on half of them that their files know nothing of. */
async function workspace(): Promise<Scratch> {
  const place = scratch();
  mkdirSync(join(place.folder, '.ai-workspace', 'features', 'active', 'team'), { recursive: true });
  for (let index = 0; index < 60; index += 1) writeFileSync(fileOf(place, index), textOf(index));
  for (let index = 8; index < 40; index += 1) {
    await said(place, 'claim', 'take', name(index), 'intent→requirements');
    if (index % 3 > 0) await said(place, 'claim', 'release', name(index), 'intent→requirements');
  }
  return place;
}

function textOf(index: number): string {
  return (STYLES[index % STYLES.length]?.text ?? '').replace('ID', name(index));
}

test('[CLAIM-13] of sixty feature files in all styles one convergence changes one, in the lines of its edge', async () => {
  using place = await workspace();
  for (const [index, { lines }] of STYLES.entries()) {
    const before = hashes(place);
    await said(place, 'claim', 'take', name(index), 'design→code');
    const answer = await said(place, 'claim', 'converge', name(index), 'design→code', '--iteration', '3');
    assert.deepEqual([answer.success, answer.view_problems], [true, undefined], JSON.stringify(answer));
    const after = hashes(place);
    const changed = [...after].filter(([file, hash]) => before.get(file) !== hash).map(([file]) => file);
    assert.equal(changed.length, 1, changed.join());
    assert.ok(changed[0]?.endsWith(`${name(index)}.yml`), changed[0]);
    assert.deepEqual([difference(textOf(index), readFileSync(fileOf(place, index), 'utf8'))], lines);
  }
});

test('[CLAIM-13] what a person marked converged stays so, is not handed out, and ends with an event of that feature', async () => {
  using place = scratch();
  mkdirSync(join(place.folder, '.ai-workspace', 'features', 'active'), { recursive: true });
  const done =
    'feature: DONE   # by hand\nstatus: converged\ntrajectory:\n  design: {status: converged}\n  code: {status: pending}\n  unit_tests: {status: skipped}\n';
  const file = (feature: string) =>
    join(place.folder, '.ai-workspace', 'features', 'active', `${feature}.yml`);
  const read = (feature: string) => readFileSync(file(feature), 'utf8');
  for (const edge of ['intent→requirements', 'design→code', 'code→unit_tests']) {
    await said(place, 'claim', 'take', 'DONE', edge);
    if (edge !== 'intent→requirements') await said(place, 'claim', 'release', 'DONE', edge);
  }
  // The person writes it after all that.
  writeFileSync(file('DONE'), done);
  writeFileSync(file('NEW'), 'feature: NEW\nstatus: pending\ntrajectory:\n  code: {status: pending}\n');
  await said(place, 'claim', 'take', 'NEW', 'design→code');
  await said(place, 'claim', 'converge', 'NEW', 'design→code');
  assert.match(read('NEW'), /^status: converged$/m);
  assert.equal(read('DONE'), done);
  assert.deepEqual((await said(place, 'views', 'rebuild')).written, [], 'nor when all is made anew');
  assert.equal(read('DONE'), done);
  const { assignments } = await said(place, 'start');
  assert.deepEqual(assignments, []);
  await said(place, 'claim', 'converge', 'DONE', 'intent→requirements');
  assert.match(read('DONE'), /^status: converged$/m, 'a convergence says nothing against it');
  // Its file is older than what the log says next.
  utimesSync(file('DONE'), 1, 1);
  await said(place, 'claim', 'take', 'DONE', 'design→code');
  await said(place, 'views', 'rebuild');
  assert.match(read('DONE'), /^status: in_progress\n/m);
  assert.match(read('DONE'), /code: \{status: iterating, /);
  assert.match(read('DONE'), /unit_tests: \{status: skipped\}/, 'no word of the log');
});

test('[CLAIM-13] archived, dismissed and completed features are not handed out, and others may still build on them', async () => {
  using place = scratch();
  const write = (path: string, text: string) => {
    const file = join(place.folder, '.ai-workspace', 'features', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  write('archived/old.yml', 'feature: OLD\npriority: 1\n');
  write('archived/2025/older.yml', 'feature: OLDER\nstatus: in_progress\n');
  write('dismissed/no.yml', 'feature: NO\npriority: 1\ntrajectory: {code: pending}\n');
  write('completed/done.yml', 'feature: DONE\nstatus: in_progress\ntrajectory: {code: iterating}\n');
  write('active/away.yml', 'feature: AWAY\nstatus: Dismissed\n');
  write('active/on-done.yml', 'feature: ON-DONE\npriority: 9\ndependencies: [DONE]\n');
  write('active/on-no.yml', 'feature: ON-NO\ndependencies: [NO]\n');
  write('archived/on-done.yml', 'feature: ON-DONE\n');
  // The log knows them, too: what was given up is not new work without a file.
  for (const [feature, edge] of [
    ['OLD', 'design→code'],
    ['NO', 'design→code'],
    ['DONE', 'intent→requirements'],
  ] as const) {
    await said(place, 'claim', 'take', feature, edge);
    await said(place, 'claim', 'release', feature, edge);
  }
  const agents = Array.from({ length: 8 }, (_, index) => `a${index}=full_stack`);
  const answer = await said(place, 'start', '--agents', ...agents);
  const given = (answer.assignments as JsonObject[]).map(({ feature }) => feature);
  assert.deepEqual(given, ['ON-DONE']);
  assert.deepEqual(answer.groups, [['ON-NO'], ['ON-DONE']]);
  assert.deepEqual(answer.held_up, [
    { feature: 'ON-NO', reason: 'waits for NO, which is archived or dismissed' },
  ]);
  assert.deepEqual(answer.problems, [], 'an older copy in the archive is no mistake');
});

test('[CLAIM-6] [CLAIM-14] alone and without a name: the log says `primary` at the top of its events, as the document has it', async () => {
  using place = scratch();
  const events = join(place.folder, '.ai-workspace', 'events', 'events.jsonl');
  mkdirSync(dirname(events), { recursive: true });
  const env = { COX_STORE: `files:${join(place.folder, '.ai-workspace')}` };
  const run = async (...words: string[]) => {
    const { terminal, written } = fakeTerminal(place.folder, env);
    return { code: await main([...words, '--json'], terminal), ...written };
  };
  assert.equal((await run('claim', 'mode', 'single')).code, 0);
  const converged = await run('claim', 'converge', 'F-1', 'design→code', '--evaluators', '1/1');
  assert.equal(converged.code, 0, converged.err);
  const lines = readFileSync(events, 'utf8').trimEnd().split('\n');
  const claims = lines
    .map((line) => JSON.parse(line) as JsonObject)
    .filter(({ feature }) => feature === 'F-1');
  assert.deepEqual(
    claims.map(({ event_type, agent_id }) => [event_type, agent_id]),
    [
      ['edge_started', 'primary'],
      ['edge_converged', 'primary'],
    ],
  );
  // Read back, the call is still that of the process that made it.
  const { entries } = JSON.parse((await run('query', '--operation', 'converge_edge')).out) as {
    entries?: JsonObject[];
  };
  if (entries !== undefined) assert.notEqual(entries[0]?.agent_id, 'primary');
});
