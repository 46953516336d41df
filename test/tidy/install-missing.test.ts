import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const scripts = join(import.meta.dirname, '..', '..', 'scripts');

test('what another checkout has installed is not emptied through a link to it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cox-install-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [own, other] = [join(folder, 'own'), join(folder, 'other')];
  mkdirSync(join(own, 'scripts'), { recursive: true });
  mkdirSync(join(other, 'node_modules', 'kept'), { recursive: true });
  const name = 'install-missing.mjs';
  cpSync(join(scripts, name), join(own, 'scripts', name));
  writeFileSync(join(own, 'package.json'), '{"name":"own","version":"1.0.0"}');
  writeFileSync(
    join(own, 'package-lock.json'),
    '{"name":"own","version":"1.0.0","lockfileVersion":3,"packages":{}}',
  );
  symlinkSync(join(other, 'node_modules'), join(own, 'node_modules'));
  const done = spawnSync(process.execPath, [join(own, 'scripts', name)], {
    encoding: 'utf8',
  });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stderr, /is a link and does not match/);
  assert.ok(existsSync(join(other, 'node_modules', 'kept')));
});
