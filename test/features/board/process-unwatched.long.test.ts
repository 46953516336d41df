import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { adoptExecution } from '../../../src/features/board/runner/process/process-execution.ts';
import { until } from '../../support/until.ts';
import { isAlive } from '../verification/support.ts';
import { assignment, failureIn, stage } from './support.ts';

const STARTER = fileURLToPath(new URL('starter.ts', import.meta.url));

test('[PHASE-5] a run that nobody watches any more ends everything by itself when its time is over', async () => {
  using place = stage();
  const script = [
    "trap '' TERM",
    'setsid sh -c \'trap "" TERM; echo $$ >$IN/left; while :; do sleep 600; done\' &',
    'echo $$ >$IN/agent',
    'while :; do sleep 600; done',
  ].join('\n');
  const given = assignment(script, { limit_ms: 1500 }, { environment: { IN: place.root } });
  const words = [STARTER, JSON.stringify({ assignment: given, places: place.places })];
  const orchestrator = spawn(process.execPath, words, { stdio: 'inherit' });
  await until(async () => existsSync(join(place.root, 'left')) && existsSync(join(place.root, 'agent')));
  orchestrator.kill('SIGKILL');
  await once(orchestrator, 'exit');
  const folder = join(place.places.runs, given.run_id);
  await until(async () => existsSync(join(folder, 'exit')));
  const wrapper = Number(readFileSync(join(folder, 'process'), 'utf8').split('\n')[0]);
  const pids = ['left', 'agent'].map((name) => Number(readFileSync(join(place.root, name), 'utf8')));
  await until(async () => ![wrapper, ...pids].some(isAlive));
  const { reason } = failureIn(
    await (adoptExecution(given, place.places) ?? assert.fail('it is lost')).delivered,
  );
  assert.equal(reason, 'It was not done in time (1.5 s).');
});
