// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell’s, not ours
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DISGUISES } from './guard/mutations.ts';

/** A mutation that would no longer do the same would prove nothing: bash itself is asked. */
const folder = mkdtempSync(join(tmpdir(), 'cox-mutations-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const VARIANTS = 16;
/** Not on every machine, and not without a password on any. */
const STAND_INS = {
  sudo: 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
  doas: 'exec "$@"',
  ionice: 'shift; exec "$@"',
  xxd: 'exec python3 -c "import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read().strip()))"',
};

// Where python3 is a script that looks for the right one, it takes longer than all else here, and is called a hundred times.
const python = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
symlinkSync(python.stdout.trim(), join(folder, 'python3'));

for (const [name, script] of Object.entries(STAND_INS)) {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

function touches(text: string, file: string): boolean {
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder };
  spawnSync('bash', ['-c', text], { cwd: folder, env, timeout: 20_000, stdio: 'ignore' });
  const made = existsSync(join(folder, file));
  rmSync(join(folder, file), { force: true });
  return made;
}

test('each disguise still does what it disguises', () => {
  const broken: string[] = [];
  for (const [name, disguise] of Object.entries(DISGUISES)) {
    const texts = Array.from({ length: VARIANTS }, (_, n) => disguise('touch -- made-it', n));
    for (const text of new Set(texts))
      if (text !== undefined && !touches(text, 'made-it')) broken.push(`${name}: ${text}`);
  }
  assert.deepEqual(broken, []);
});

test('so do two disguises, one upon the other', () => {
  const broken: string[] = [];
  for (const [inner, first] of Object.entries(DISGUISES)) {
    const once = first('touch made-it', 1);
    if (once === undefined || inner === 'alias') continue;
    for (const [outer, second] of Object.entries(DISGUISES)) {
      const text = second(once, 2);
      // There is no sudo at /usr/bin on every machine.
      if (text === undefined || text.startsWith('/usr/bin/sudo')) continue;
      if (!touches(text, 'made-it')) broken.push(`${inner}, then ${outer}: ${text}`);
    }
  }
  assert.deepEqual(broken, []);
});
