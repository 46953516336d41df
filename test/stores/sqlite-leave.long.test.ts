import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from '../../src/index.ts';
import { agent } from '../conformance/engine.ts';

const WORKER = fileURLToPath(new URL('./leave-worker.ts', import.meta.url));
const MEGABYTE = 1024 * 1024;
/** Hooks that come by, of which one writes the -wal back. */
const HOOKS = 16;

const folder = mkdtempSync(join(tmpdir(), 'cox-leave-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const walBytes = (path: string) => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

function work(path: string, name: string, commits: number, end: 'leave' | 'die'): void {
  execFileSync(process.execPath, [WORKER, `sqlite:${path}`, name, String(commits), end]);
}

test('[HOOK-2] what hooks leave in the -wal is written back before it slows the next one down', async () => {
  const path = join(folder, 'cox.db');
  work(path, 'crowd', 300, 'die');
  assert.ok(walBytes(path) > 2 * MEGABYTE, `only ${walBytes(path)} bytes to write back`);
  const left: number[] = [];
  for (let n = 0; n < HOOKS; n += 1) {
    work(path, `hook-${n}`, 1, 'leave');
    left.push(walBytes(path));
  }
  assert.ok((left.at(-1) ?? 0) < MEGABYTE, `${left.at(-1)} bytes are left`);
  const coxswain = await open({ store: `sqlite:${path}`, presence: 'off' });
  const { locks } = await agent(coxswain, 'later')('check_locks', {});
  await coxswain.close();
  assert.equal((locks as unknown[]).length, 300 + HOOKS);
});
