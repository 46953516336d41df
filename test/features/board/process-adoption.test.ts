import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { GrantAssignment } from '../../../src/features/board/runner/execution-port.ts';
import { changedFiles } from '../../../src/features/board/runner/process/agent-workspace.ts';
import {
  adoptExecution,
  startExecution,
} from '../../../src/features/board/runner/process/process-execution.ts';
import { forgetRun, sweepRuns } from '../../../src/features/board/runner/process/sweep.ts';
import { until } from '../../support/until.ts';
import { isAlive } from '../verification/support.ts';
import { assignment, endRun, failureIn, printing, type Stage, stage } from './support.ts';

const STARTER = fileURLToPath(new URL('starter.ts', import.meta.url));

function orchestrator(given: GrantAssignment, { places }: Stage): ChildProcess {
  const words = [STARTER, JSON.stringify({ assignment: given, places })];
  return spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

const everythingIsWanted = async () => () => true;
const nothingIsWanted = async () => () => false;
const there = (place: Stage, name: string) => until(async () => existsSync(join(place.root, name)));
const wrapperOf = (place: Stage, { run_id }: GrantAssignment) =>
  Number(readFileSync(join(place.places.runs, run_id, 'process'), 'utf8').split('\n')[0]);

/** Says how often it was run, and goes on when it is told to. */
const PATIENT = `echo run >>$IN/times; echo $$ >$IN/agent; until [ -e $IN/go ]; do sleep 0.05; done; ${printing()}`;

function patient(place: Stage, more: Partial<GrantAssignment> = {}): GrantAssignment {
  return assignment(PATIENT, more, { environment: { IN: place.root } });
}

test('[PHASE-4] an orchestrator is killed -9: its agent goes on, and the next orchestrator gets the result', async () => {
  using place = stage();
  const given = patient(place);
  const first = orchestrator(given, place);
  await there(place, 'agent');
  await killed(first);
  const second = orchestrator(given, place);
  const third = adoptExecution(given, place.places);
  assert.ok(third !== undefined);
  await killed(second);
  writeFileSync(join(place.root, 'go'), '');
  const delivery = await third.delivered;
  assert.equal(delivery.ok && delivery.artefact_payload, 'hello');
  // A run that was killed before it could tell is followed by one that gets the same.
  assert.deepEqual(await adoptExecution(given, place.places)?.delivered, delivery);
  assert.deepEqual(await startExecution(given, place.places).delivered, delivery);
  assert.equal(readFileSync(join(place.root, 'times'), 'utf8'), 'run\n');
  await forgetRun(given.run_id, place.places);
  assert.equal(adoptExecution(given, place.places), undefined);
});

test('[PHASE-4] an agent that ended while nobody looked on has delivered', async () => {
  using place = stage();
  const given = patient(place);
  const first = orchestrator(given, place);
  await there(place, 'agent');
  await killed(first);
  writeFileSync(join(place.root, 'go'), '');
  await until(async () => existsSync(join(place.places.runs, given.run_id, 'exit')));
  const delivery = await adoptExecution({ ...given, limit_ms: -5 }, place.places)?.delivered;
  assert.equal(delivery?.ok, true);
});

test('[PHASE-4] killed at any moment of its start, an orchestrator leaves a run that is run once', async () => {
  using place = stage();
  writeFileSync(join(place.root, 'go'), '');
  for (let round = 0; round < 8; round += 1) {
    const given = assignment(
      `echo run >>$IN/${round}; ${printing()}`,
      {},
      { environment: { IN: place.root }, workspace: 'rw' },
    );
    const first = orchestrator(given, place);
    // From the first sign of the run on, a little later each time.
    const folder = join(place.places.runs, given.run_id);
    const signs = [
      'starter',
      'input.json',
      'tree',
      'workspace.json',
      'process',
      'stdout',
      'exit',
      'delivery.json',
    ];
    await until(
      async () => existsSync(join(folder, signs[round] ?? '')) || existsSync(join(folder, 'delivery.json')),
    );
    await killed(first);
    const next = adoptExecution(given, place.places) ?? startExecution(given, place.places);
    assert.equal((await next.delivered).ok, true, signs[round]);
    assert.equal(readFileSync(join(place.root, String(round)), 'utf8'), 'run\n', signs[round]);
  }
  await sweepRuns(place.places, everythingIsWanted);
  assert.equal(place.git('worktree', 'list').split('\n').length, 1);
});

test('[PHASE-4] the machine went down with agent and wrapper: the run is lost, begins anew, and its work is kept', async () => {
  using place = stage();
  const environment = { IN: place.root };
  const given = assignment(`echo draft $$ >b.txt; ${PATIENT}`, {}, { environment, workspace: 'rw' });
  const first = orchestrator(given, place);
  await there(place, 'agent');
  assert.deepEqual(await changedFiles(given.run_id, place.places), ['b.txt']);
  await killed(first);
  endRun(given.run_id);
  await until(async () => !isAlive(wrapperOf(place, given)));
  assert.equal(adoptExecution(given, place.places), undefined);
  writeFileSync(join(place.root, 'go'), '');
  const delivery = await startExecution(given, place.places).delivered;
  assert.ok(delivery.ok);
  assert.equal(
    delivery.summary,
    [
      'said hello',
      `What it had not committed is in refs/cox/runs/${given.run_id}-2.`,
      `Before: What it had not committed is in refs/cox/runs/${given.run_id}.`,
    ].join('\n'),
  );
  const [lost, anew] = ['', '-2'].map((more) =>
    place.git('show', `refs/cox/runs/${given.run_id}${more}:b.txt`),
  );
  assert.match(`${lost}\n${anew}`, /^draft (\d+)\ndraft (?!\1$)\d+$/);
  assert.equal(readFileSync(join(place.root, 'times'), 'utf8'), 'run\nrun\n');
});

test('[PHASE-4] a number that another process has now is not taken for the wrapper', async () => {
  using place = stage();
  const given = patient(place);
  const folder = join(place.places.runs, given.run_id);
  mkdirSync(folder, { recursive: true });
  const stat = readFileSync('/proc/self/stat', 'utf8').trim();
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  writeFileSync(
    join(folder, 'starter'),
    JSON.stringify({ run_id: given.run_id, pid: 2 ** 22, started: '1' }),
  );
  const older = stat.replace(/\d+(?=( \S+){30}$)/, '1');
  for (const [lines, isThere] of [
    [[process.pid, boot, stat], true],
    [[process.pid, boot, older], false],
    [[process.pid, 'another-boot', stat], false],
    [[2 ** 22, boot, stat], false],
    [['given up'], false],
    [[''], false],
  ] as const) {
    writeFileSync(join(folder, 'process'), `${lines.join('\n')}\n`);
    const found = adoptExecution(given, place.places);
    assert.equal(found !== undefined, isThere, String(lines));
    if (found === undefined) continue;
    // It was ours after all: its end is what we say.
    writeFileSync(join(folder, 'stdout'), '');
    writeFileSync(join(folder, 'exit'), '3\n');
    assert.equal(failureIn(await found.delivered).exit_code, 3);
    for (const name of ['exit', 'delivery.json']) writeFileSync(join(folder, name), '');
  }
});

test('[PHASE-5] an orchestrator that was killed over ending a run is followed by one that ends it', async () => {
  using place = stage();
  const script = `trap '' TERM; echo $$ >$IN/agent; while :; do sleep 600; done`;
  const given = assignment(script, { limit_ms: 300 }, { environment: { IN: place.root } });
  const first = orchestrator(given, place);
  await until(async () => existsSync(join(place.places.runs, given.run_id, 'ended')));
  await killed(first);
  const pid = Number(readFileSync(join(place.root, 'agent'), 'utf8'));
  const next = adoptExecution({ ...given, limit_ms: 60_000 }, place.places);
  assert.equal(
    failureIn(await (next ?? assert.fail('nothing to adopt')).delivered).reason,
    'It was not done in time (0.3 s).',
  );
  assert.equal(isAlive(pid), false);
});

test('[PHASE-7] sweeping leaves what runs and what is waited for, and clears the rest with its work kept', async () => {
  using place = stage();
  const program = { environment: { IN: place.root }, workspace: 'rw' } as const;
  const lost = assignment(`echo lost >lost.txt; echo >$IN/there; exec sleep 600`, {}, program);
  const first = orchestrator(lost, place);
  await there(place, 'there');
  await killed(first);
  endRun(lost.run_id);
  const runs = assignment(PATIENT, {}, program);
  const running = startExecution(runs, place.places);
  await there(place, 'agent');
  await until(async () => !isAlive(wrapperOf(place, lost)));
  await sweepRuns(place.places, everythingIsWanted);
  assert.ok(existsSync(join(place.places.runs, lost.run_id)));
  await sweepRuns(place.places, nothingIsWanted);
  assert.equal(existsSync(join(place.places.runs, lost.run_id)), false);
  assert.equal(place.git('show', `refs/cox/runs/${lost.run_id}:lost.txt`), 'lost');
  writeFileSync(join(place.root, 'go'), '');
  assert.equal((await running.delivered).ok, true);
  await sweepRuns(place.places, nothingIsWanted);
  assert.equal(existsSync(join(place.places.runs, runs.run_id)), false);
});
