import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Bench, bench } from './support.ts';

const STATE = '~/.local/state/coxswain';

/** As hooks in use leave it. */
function used(place: Bench): void {
  place.write(`${STATE}/delivered/abc.json`, '["m1"]');
  place.write(`${STATE}/hooks.log`, 'failed\n');
  place.write(`${STATE}/hooks.log.old`, 'failed\n');
}

test('[HOOK-3] undo takes along what hooks in use have noted for themselves', async () => {
  using place = bench();
  const before = place.picture();
  await place.cox(['init', '--yes']);
  used(place);
  const dry = await place.cox(['init', '--undo', '--dry-run']);
  assert.match(dry.out, /delivered would go too/);
  assert.ok(existsSync(place.at(`${STATE}/delivered/abc.json`)));
  const { out } = await place.cox(['init', '--undo']);
  assert.match(out, /coxswain\/delivered is gone too: hooks had made it/);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] while another repository is wired, the hooks’ notes stay', async () => {
  using place = bench({ clients: ['codex'] });
  const before = place.picture();
  const other = join(place.home, 'other');
  mkdirSync(other);
  await place.cox(['init', '--yes']);
  await place.cox(['init', '--yes'], { cwd: other });
  used(place);
  await place.cox(['init', '--undo'], { cwd: other });
  assert.ok(existsSync(place.at(`${STATE}/delivered/abc.json`)));
  assert.ok(existsSync(place.at(`${STATE}/hooks.log`)));
  await place.cox(['init', '--undo']);
  rmSync(other, { recursive: true });
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] other things in the state folder are not the hooks’, and stay', async () => {
  using place = bench({ clients: ['codex'] });
  await place.cox(['init', '--yes']);
  used(place);
  place.write(`${STATE}/ports.json`, '{}');
  await place.cox(['init', '--undo']);
  assert.deepEqual(
    Object.keys(place.picture()).filter((path) => path.startsWith('home/.local/state/coxswain/')),
    ['home/.local/state/coxswain/ports.json'],
  );
});

test('[HOOK-3] undo says that the log stays, and where', async () => {
  using place = bench({ clients: ['codex'] });
  await place.cox(['init', '--yes']);
  assert.doesNotMatch((await place.cox(['init', '--undo', '--dry-run'])).out, /log of what agents did/);
  await place.cox(['status']);
  assert.ok(
    (await place.cox(['init', '--undo'])).out.includes(`stays: ${place.at('.git/coxswain/cox.db')}.`),
  );
  assert.ok(existsSync(place.at('.git/coxswain/cox.db')));
  await place.cox(['init', '--yes', '--store', 'sqlite:own/s.db']);
  place.write('own/s.db', '');
  assert.ok((await place.cox(['init', '--undo'])).out.includes(`stays: ${place.at('own/s.db')}.`));
  await place.cox(['init', '--yes', '--store', 'postgres://host/db']);
  assert.match((await place.cox(['init', '--undo'])).out, /stays where it is, in the database of your store/);
});
