import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import { cox, finished, type Scratch, scratch, start } from './support.ts';

/** The user's own surroundings, of which the demo must touch nothing, and a folder for what is temporary. */
function surroundings(place: Scratch) {
  const temporary = join(place.folder, 'tmp');
  mkdirSync(temporary);
  const env = { COX_STORE: place.store, AGENT_ID: 'me', TMPDIR: temporary };
  return { cwd: place.folder, env, temporary };
}

/** Beside what Node itself keeps there. */
function scenesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('cox-demo-'));
}

/** Of the demo's agents, by what is on their command line: it names the folder they play in. */
function agentsIn(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
      } catch {
        return false;
      }
    });
}

test('[CLI-1] demo: six agents contend, wait, crash and hand over, and nothing is left', async () => {
  using place = scratch();
  const { temporary, ...options } = surroundings(place);
  const { code, out, err } = await cox(['demo', '--fast'], {
    ...options,
    env: { ...options.env, COLUMNS: '80' },
  });
  assert.deepEqual([code, err], [0, ''], out);
  for (const words of [
    'Six agents arrive',
    '→ refused: src/router.ts is locked by ada',
    'has the folder: first come, first served',
    'kill -9',
    'what it held is free',
    'a new session begins with: “routes moved',
    '→ refused: Grant',
    'has prices, attempt 2',
    'given up: migrate',
    'State rebuilt from the log: equal',
  ])
    assert.ok(out.includes(words), `${words}\n${out}`);
  for (const line of out.split('\n')) if (!line.includes(temporary)) assert.ok(line.length <= 102, line);
  assert.deepEqual(scenesIn(temporary), []);
  assert.deepEqual(agentsIn(temporary), []);
  assert.ok(!existsSync(join(place.folder, 'store')), 'the own store is not even opened');
});

test('[CLI-1] demo: Ctrl-C in the middle leaves no process and no folder; so does a killed one no process', async () => {
  using place = scratch();
  const { temporary, ...options } = surroundings(place);
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const child = start(['demo', '--fast'], options);
    let out = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await until(async () => out.includes('waits for src/prices.ts'));
    assert.ok(agentsIn(temporary).length >= 5);
    const ended = once(child, 'exit');
    child.kill(signal);
    // Impatient people press it again and again, also while it cleans up.
    if (signal === 'SIGINT')
      await until(async () => !child.kill(signal) || child.exitCode !== null || child.signalCode !== null);
    const [code, killed] = await ended;
    assert.ok(code === 130 || killed === signal, `${signal}: ${code} ${killed}`);
    // Killed, it can't clean up its folder; but its agents notice that it is gone.
    await until(async () => agentsIn(temporary).length === 0);
    assert.equal(scenesIn(temporary).length, signal === 'SIGKILL' ? 1 : 0, signal);
  }
});

test('[CLI-1] demo --json --keep: one object, and a store to look at', async () => {
  using place = scratch();
  const { temporary, ...options } = surroundings(place);
  const child = start(['demo', '--fast', '--json', '--keep'], options);
  const { code, out } = await finished(child);
  assert.equal(code, 0, out);
  const answer = JSON.parse(out) as JsonObject;
  assert.deepEqual([answer.success, answer.equal, answer.needs_you], [true, true, 1]);
  const [kept = ''] = scenesIn(temporary);
  const store = `sqlite:${join(temporary, kept, '.git', 'coxswain', 'cox.db')}`;
  const replayed = await cox(['replay', '--json', '--store', store, '--project', 'demo'], options);
  assert.equal((JSON.parse(replayed.out) as JsonObject).equal, true);
});
