import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { bench } from './support.ts';

test('[HOOK-3] --git-hooks: with the rest, chained to what is there, and undone with the rest', async () => {
  using place = bench({ git: false, clients: ['codex'] });
  execFileSync('git', ['init', '-q', place.repo], { env: { ...place.env, GIT_CONFIG_GLOBAL: '/dev/null' } });
  place.write('.git/hooks/pre-commit', '#!/bin/sh\nexit 0\n', 0o755);
  const before = place.picture();
  const { code, err, out } = await place.cox(['init', '--yes', '--git-hooks']);
  assert.equal(code, 0, err);
  assert.match(out, /created +.*hooks\/pre-push/);
  assert.equal(statSync(place.at('.git/hooks/pre-push')).mode & 0o777, 0o755);
  assert.match((await place.cox(['init', '--yes', '--git-hooks'])).out, /Already set up/);
  assert.match(
    (await place.cox(['doctor'])).out,
    /✔ git hooks +pre-commit, .*prepare-commit-msg, pre-rebase and pre-push/,
  );
  assert.equal((await place.cox(['init', '--undo'])).code, 0);
  // Looking made the store.
  const rest = Object.fromEntries(
    Object.entries(place.picture()).filter(([path]) => !path.startsWith('repo/.git/coxswain')),
  );
  assert.deepEqual(rest, before);
});

test('[HOOK-3] --git-hooks without git is refused', async () => {
  using place = bench({ git: false });
  const { code, err } = await place.cox(['init', '--yes', '--git-hooks']);
  assert.equal(code, 2);
  assert.match(err, /no git repository/);
});
