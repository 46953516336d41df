import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { says } from '../features/board/scene.ts';
import { isAlive } from '../features/verification/support.ts';
import { inTerminal, type Pty } from '../support/pty.ts';
import { until } from '../support/until.ts';
import { type BoardPlace, boardPlace, LOOP, objectsIn, typed, typedJson } from './board-place.ts';
import { cox, finished, scratch, start } from './support.ts';

const HANGING = `version: "1.0"
agents:
  worker: {role: Worker, command: [./worker.sh], bidding_strategy: exclusive}
`;
/** Says who it is and never ends, nor does what it started. */
const hangs = { 'worker.sh': `sleep 600 & echo "$$ $!" >> "$TRACE"; wait` };

async function pidsOf(place: BoardPlace): Promise<number[]> {
  const [line = ''] = await until(async () => place.trace().length > 0 && place.trace());
  return line.split(' ').map(Number);
}

/** Nothing runs, no agent has the part, and nothing is left of it on the disk. */
async function assertLetGo(place: BoardPlace, pids: readonly number[]): Promise<void> {
  assert.deepEqual(pids.filter(isAlive), []);
  const { claims } = await typedJson(place, 'board');
  const [claim] = claims as { phase_state: { grants: JsonObject[] } }[];
  assert.equal(claim?.phase_state.grants[0]?.standing, 'waiting');
  const runs = join(place.folder, '.cox-state', 'runs');
  assert.deepEqual(
    readdirSync(runs).flatMap((board) => readdirSync(join(runs, board))),
    [],
  );
}

test('[CLI-1] cox up: all mistakes of the file with their lines, and nothing is started', async () => {
  using place = scratch();
  writeFileSync(
    join(place.folder, 'cox.yml'),
    `version: "1.0"
orchestrator: {bid_deadline: soon}
agents:
  a: {role: X, command: [./a.sh], bidding_strategy: reveiw}
  b: {role: X, command: [./b.sh], replicas: -1}
`,
  );
  const env = { COX_STORE: place.store };
  const { code, out, err } = await cox(['up'], { cwd: place.folder, env });
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^cox: board_invalid: cox\.yml:2: orchestrator\.bid_deadline/);
  assert.match(
    err,
    /\n +4 +agents\.a\.bidding_strategy[\s\S]*\n +5 +agents\.b\.replicas[\s\S]*\n +5 +agents\.b\.role/,
  );
  const refusal = await typedJson(place, 'up');
  assert.deepEqual(
    [refusal.code, refusal.error, (refusal.errors as JsonObject[]).length],
    [1, 'board_invalid', 4],
  );
  assert.ok(!existsSync(join(place.folder, 'store')), 'no store');
  assert.ok(!existsSync(join(place.folder, '.cox-state')), 'no run');
});

test('[CLI-1] [BID-1] cox up --check says what would run, and runs nothing', async () => {
  using place = scratch();
  const file = join(place.folder, 'cox.yml');
  writeFileSync(
    file,
    `version: "1.0"
agents:
  writer: {role: Writer, command: [sh, -c, "touch ran"], bidding_strategy: {type: exclusive, target_types: [Goal]}}
  anna: {role: Editor}
`,
  );
  const env = { COX_STORE: place.store };
  const { code, out, err } = await cox(['up', '--check'], { cwd: place.folder, env });
  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /^cox\.yml is valid\. cox up would run:\n/);
  assert.match(out, /writer \(Writer\): sh -c touch ran; bids exclusive on Goal\n/);
  assert.match(out, /anna \(Editor\): takes part by itself, over MCP or HTTP; is asked for each bid\n/);
  assert.match(out, /waits for the bids of all of them/);
  const answer = await typedJson(place, 'up', '--check');
  assert.partialDeepStrictEqual(answer, {
    success: true,
    settings: { bid_deadline_seconds: 0 },
    agents: [
      { agent_id: 'writer', command: ['sh', '-c', 'touch ran'] },
      { agent_id: 'anna', command: null },
    ],
  });
  writeFileSync(file, 'version: "1.0"\nagents: {a: {role: X, command: [x], bidding_strategy: reveiw}}\n');
  const wrong = await cox(['up', '--check'], { cwd: place.folder, env });
  assert.deepEqual([wrong.code, wrong.out], [1, '']);
  assert.match(wrong.err, /agents\.a\.bidding_strategy/);
  for (const made of ['ran', 'store', '.cox-state']) assert.ok(!existsSync(join(place.folder, made)), made);
});

test('[CLI-1] cox up without a file: which names were looked for, and the least there is to one', async () => {
  using place = scratch();
  const { code, err } = await typed(place, ['up']);
  assert.equal(code, 1);
  assert.match(
    err,
    /There is no cox\.yml, no sett\.yml, no holt\.yml in .*\n[\s\S]*--config[\s\S]*\n {2}agents:\n/,
  );
  const { looked_for, example } = await typedJson(place, 'up');
  assert.deepEqual(looked_for, ['cox.yml', 'sett.yml', 'holt.yml']);
  writeFileSync(join(place.folder, 'cox.yml'), String(example));
  const { code: works, out } = await typed(place, ['up', '--until-idle', '--json']);
  assert.deepEqual(
    [works, objectsIn(out)[0]?.agents],
    [0, ['writer', 'reviewer']],
    'the example is a file that works',
  );
  assert.match(
    (await typed(place, ['up', '--config', 'other.yml'])).err,
    /other\.yml:1: file: there is no such file/,
  );
});

test('[PHASE-4] [CLI-1] cox up in a pipe: a line for each piece of news; Ctrl-C ends all of it and gives it back', async () => {
  using place = boardPlace(HANGING, hangs);
  const child = start(['up'], { cwd: place.folder, env: { COX_STORE: place.store } });
  const ended = finished(child);
  await typed(place, ['forage', 'never']);
  const pids = await pidsOf(place);
  assert.equal(pids.filter(isAlive).length, 2);
  child.kill('SIGINT');
  const { code, out, err } = await ended;
  assert.deepEqual([code, err], [0, 'cox up: stopping all of it; Ctrl-C once more quits at once.\n']);
  const [head, ...lines] = out.trimEnd().split('\n');
  assert.match(head ?? '', /^cox\.yml: worker \(sqlite:.*, project default\)$/);
  for (const line of lines) assert.match(line, /^\d\d:\d\d:\d\d {2}\S/);
  assert.match(
    out,
    /goes to worker alone\n.*worker begins with GoalDefined …[\da-f]{6}\n.*worker is stopped/,
  );
  await assertLetGo(place, pids);
});

/** What a person sees last: the text of the last picture, without escapes. */
function picture(pty: Pty): string[] {
  const [last = ''] = pty.output().split('\u001b[H').slice(-1);
  const frame = last.split('\u001b[?2026l')[0] ?? '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are what this removes.
  return frame.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '').split(/[\r\n]+/);
}

test('[CLI-1] cox up in a terminal: who works on what since when, in 80 columns and 24 rows; q does nothing, Ctrl-C all', async () => {
  const asked = '  anna: {role: Editor, bidding_strategy: {type: review, target_types: [Draft]}}\n';
  using place = boardPlace(`${HANGING}${asked}`, hangs);
  const env = { COX_STORE: place.store, COX_STATE_DIR: join(place.folder, '.cox-state') };
  await using pty = await inTerminal(['up'], { cwd: place.folder, env });
  await pty.shows('Ctrl-C stops everything');
  for (let n = 0; n < 12; n += 1) await typed(place, ['forage', `goal ${n} ${'x'.repeat(200)}`]);
  const pids = await pidsOf(place);
  const lines = await until(async () => {
    const drawn = picture(pty);
    return (
      /works on GoalDefined …[\da-f]{6} for \d+ s/.test(drawn.join('\n')) &&
      drawn.join('\n').includes('12 open') &&
      drawn
    );
  });
  assert.ok(lines.length <= 24, `${lines.length} rows`);
  for (const line of lines) assert.ok(line.length <= 80, line);
  const text = lines.join('\n');
  assert.match(text, /Claims {2}12 open\n.* exclusive +\d+ s +worker works for \d+ s, 30 min left/);
  assert.match(text, /worker waits for its turn/);
  assert.match(text, /Artefacts.*\n.*goal 11 x+…/);
  assert.match(text, /News.*\n {2}\d\d:\d\d:\d\d {2}/);
  pty.type('q');
  await typed(place, ['forage', 'one more']);
  await until(async () => picture(pty).join('\n').includes('13 open'));
  pty.type('\u0003');
  assert.equal(await pty.ended(), 0);
  const out = pty.output();
  assert.ok(out.lastIndexOf('\u001b[?1049l') > out.lastIndexOf('\u001b[?1049h'), 'the other screen is left');
  assert.match(out.slice(out.lastIndexOf('\u001b[?1049l')), /stopping all of it[\s\S]*worker is stopped at/);
  assert.deepEqual(pids.filter(isAlive), []);
});

test('[PHASE-6] [CLI-1] cox up --until-idle: 0 when all is done, 1 when one failed, 3 when a person is to decide', async () => {
  using place = boardPlace(LOOP.yaml, LOOP.scripts);
  await typed(place, ['forage', 'a page']);
  const done = await typed(place, ['up', '--until-idle', '--json']);
  assert.equal(done.code, 0, done.err);
  const news = objectsIn(done.out);
  const told = news.map(({ what }) => what);
  assert.deepEqual([told[0], told.at(-1)], ['up', 'idle']);
  assert.partialDeepStrictEqual(news.at(-1), { success: true, completed: 3, failed: [], decisions: [] });
  const texts = news.map(({ text }) => String(text)).join('\n');
  assert.match(
    texts,
    /reviewer sends Draft …(\w+) back: add an example\nDraft …\1 goes back to writer\nwriter begins with Draft …\1/,
  );
  assert.match(
    texts,
    /reviewer bids review on Draft[\s\S]*reviewer approves Draft …(\w+)\nDraft …\1 goes to publisher, in parallel/,
  );
  for (const each of news.slice(1, -1)) assert.equal(typeof each.at, 'string', JSON.stringify(each));
  writeFileSync(join(place.folder, 'publisher.sh'), '#!/bin/sh\nexit 3\n');
  await typed(place, ['forage', 'another']);
  const failed = await typed(place, ['up', '--until-idle']);
  assert.equal(failed.code, 1, failed.out);
  assert.match(
    failed.out,
    /Draft …\w+ came to nothing: agent_failed\nNothing on the board is open: 2 claims done, 1 failed\.\n$/,
  );
  writeFileSync(
    join(place.folder, 'reviewer.sh'),
    `#!/bin/sh\ncat > /dev/null\n${says('Review', 'never')}\n`,
  );
  writeFileSync(
    join(place.folder, 'cox.yml'),
    LOOP.yaml.replace('agents:', 'orchestrator: {max_review_iterations: 1}\nagents:'),
  );
  await typed(place, ['forage', 'a third']);
  const asked = await typed(place, ['up', '--until-idle']);
  assert.equal(asked.code, 3, asked.out);
  assert.match(asked.out, /One more round\?\n {2}cox approve [\da-f]{12}\n/);
});

test('[BID-3] [CLI-1] cox up beside somebody of the same role, and without any program for containers, says so', async () => {
  using place = boardPlace(HANGING, hangs);
  await typed(place, ['board', 'join', 'Worker', '--agent', 'anna']);
  const { code, err } = await typed(place, ['up']);
  assert.equal(code, 1);
  assert.match(err, /duplicate_role: duplicate agent role 'Worker' found \(agents 'anna' and 'worker'\)/);
  writeFileSync(
    join(place.folder, 'cox.yml'),
    'version: "1.0"\nagents:\n  boxed: {image: example, bidding_strategy: claim}\n',
  );
  const env = { COX_STORE: place.store, PATH: place.folder };
  const boxed = await cox(['up', '--json'], { cwd: place.folder, env });
  const refusal = JSON.parse(boxed.out) as JsonObject;
  assert.deepEqual([boxed.code, refusal.error], [1, 'board_invalid']);
  assert.match(
    String(refusal.message),
    /^cox\.yml: boxed runs in a container\. No container can be run here/,
  );
});
