import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startExecution } from '../../../src/features/board/runner/process/process-execution.ts';
import { until } from '../../support/until.ts';
import { isAlive } from '../verification/support.ts';
import { assignment, failureIn, printing, type Stage, stage } from './support.ts';

/** Processes tell who they are by files of their own: `$IN/<name>`. */
function told(place: Stage) {
  const environment = { IN: place.root };
  const pid = async (name: string) =>
    Number(
      await until(
        async () => existsSync(join(place.root, name)) && readFileSync(join(place.root, name), 'utf8').trim(),
      ),
    );
  return { environment, pid };
}

/** A child in the group, one with a session of its own, and one of that one's own; then something that lasts. */
const FAMILY = [
  "sh -c 'echo $$ >$IN/child; exec sleep 600' &",
  'setsid sh -c \'echo $$ >$IN/left; setsid sh -c "echo \\$\\$ >\\$IN/grandchild; exec sleep 600" & exec sleep 600\' &',
  'echo $$ >$IN/agent',
  'until [ -s $IN/child ] && [ -s $IN/left ] && [ -s $IN/grandchild ]; do sleep 0.05; done',
].join('\n');
const ALL = ['agent', 'child', 'left', 'grandchild'];

async function nobodyIsLeft(pids: readonly number[]): Promise<void> {
  assert.deepEqual(pids.filter(isAlive), []);
}

test('[PHASE-7] nothing that an agent started outlives it, whichever group it is in', async () => {
  using place = stage();
  const { environment, pid } = told(place);
  const delivery = await startExecution(
    assignment(`${FAMILY}\n${printing()}`, {}, { environment }),
    place.places,
  ).delivered;
  assert.equal(delivery.ok, true);
  await nobodyIsLeft(await Promise.all(ALL.map(pid)));
});

test('[PHASE-7] cancelled, all of its processes are asked to end and then made to', async () => {
  using place = stage();
  const { environment, pid } = told(place);
  const script = `trap 'echo asked >>$IN/asked' TERM\n${FAMILY}\necho >$IN/ready\nwhile :; do sleep 600; done`;
  const execution = startExecution(assignment(script, {}, { environment }), place.places);
  await until(async () => existsSync(join(place.root, 'ready')));
  const pids = await Promise.all(ALL.map(pid));
  execution.cancel('A person stopped it.');
  execution.cancel('Another reason.');
  const { reason, exit_code } = failureIn(await execution.delivered);
  assert.deepEqual([reason, exit_code], ['A person stopped it.', null]);
  assert.equal(readFileSync(join(place.root, 'asked'), 'utf8'), 'asked\n');
  await nobodyIsLeft(pids);
});

test('[PHASE-5] an agent that has time to put things in order when it is asked to end has still not delivered', async () => {
  using place = stage();
  const { environment } = told(place);
  const script = `trap '${printing().replaceAll("'", "'\\''")}; exit 0' TERM; echo >$IN/ready; while :; do sleep 0.05; done`;
  const execution = startExecution(assignment(script, {}, { environment }), place.places);
  await until(async () => existsSync(join(place.root, 'ready')));
  execution.cancel('Enough.');
  const { reason, exit_code, stdout } = failureIn(await execution.delivered);
  assert.deepEqual([reason, exit_code], ['Enough.', 0]);
  assert.match(stdout, /hello/);
  // What came of it is no matter of cancelling any more.
  execution.cancel('Too late.');
  assert.equal(failureIn(await execution.delivered).reason, 'Enough.');
});

test('[PHASE-5] an agent that hangs is ended when its time is over', async () => {
  using place = stage();
  const { environment, pid } = told(place);
  const script = `echo half; echo $$ >$IN/agent; exec sleep 600`;
  const given = assignment(script, { limit_ms: 400 }, { environment });
  const failure = failureIn(await startExecution(given, place.places).delivered);
  assert.equal(failure.reason, 'It was not done in time (0.4 s).');
  assert.equal(failure.stdout, 'half\n');
  await nobodyIsLeft([await pid('agent')]);
});

for (const stream of ['stdout', 'stderr'])
  test(`[PHASE-5] an agent that floods ${stream} is ended at once`, async () => {
    using place = stage();
    const flood = `head -c 20000000 /dev/zero | tr '\\0' y ${stream === 'stderr' ? '>&2' : ''}; sleep 600`;
    const given = assignment(flood);
    const failure = failureIn(await startExecution(given, place.places).delivered);
    assert.equal(failure.reason, 'It printed more than 10 MB.');
    const quoted = stream === 'stdout' ? failure.stdout : failure.stderr;
    assert.ok(quoted.length > 4000 && quoted.length <= 5000);
    assert.ok(statSync(join(place.places.runs, given.run_id, stream)).size <= 20_000_000);
  });

test('[PHASE-5] a flood that was over before anybody looked is one, too', async () => {
  using place = stage();
  const payload = 'head -c 10000000 /dev/zero | tr "\\0" y';
  const script = `printf '{"artefact_type":"x","summary":"s","artefact_payload":"'; ${payload}; printf '"}'`;
  assert.match(failureIn(await startExecution(assignment(script), place.places).delivered).reason, /10 MB/);
});

test('cancelled before it began, nothing is run', async () => {
  using place = stage();
  const { environment } = told(place);
  const given = assignment('echo >$IN/ran', {}, { environment, workspace: 'rw' });
  const execution = startExecution(given, place.places);
  execution.cancel('Never mind.');
  assert.equal(failureIn(await execution.delivered).reason, 'Never mind.');
  assert.equal(existsSync(join(place.root, 'ran')), false);
  assert.equal(place.git('worktree', 'list').split('\n').length, 1);
});
