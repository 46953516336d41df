import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { parseLoosely } from '../../../src/transports/cli/init/json-text.ts';
import { type Bench, bench, codexThatSays, git } from './support.ts';

/** A real repository with a commit; its worktrees are in the home, where the picture sees them. */
function repository(): Bench {
  const place = bench({ git: false });
  git(place, place.repo, 'init', '-q');
  git(place, place.repo, 'commit', '-q', '--allow-empty', '-m', 'start');
  return place;
}

function addTree(place: Bench, name: string): string {
  const path = join(place.home, name);
  git(place, place.repo, 'worktree', 'add', '-q', path);
  return path;
}

/** Git's own notes of when it looked last are no trace of an agent. */
function pictureOf(place: Bench): Record<string, string> {
  const entries = Object.entries(place.picture()).filter(([path]) => !/\.git\/(.*\/)?index$/.test(path));
  return Object.fromEntries(entries);
}

function agentFiles(place: Bench): string[] {
  return Object.keys(place.picture()).filter((path) => /\/\.(codex|gemini|claude)(\/|\.json)/.test(path));
}

test('[HOOK-3] one cox init wires every worktree of the repository, whichever it is run in, and one undo takes all away', async () => {
  using place = repository();
  const tree = addTree(place, 'tree');
  const before = pictureOf(place);
  const { code, out, err } = await place.cox(['init', '--yes'], { cwd: tree });
  assert.equal(code, 0, err);
  assert.match(out, /Codex and Gemini CLI need `cox init` again after a worktree is added/);
  for (const path of ['.codex/config.toml', '~/tree/.codex/config.toml'])
    assert.match(place.read(path), /\[mcp_servers\.coxswain\]/, path);
  for (const path of ['.gemini/settings.json', '~/tree/.gemini/settings.json'])
    assert.match(place.read(path), /gemini-cli before-tool/, path);
  // Both read them in the main checkout, from all worktrees.
  for (const path of ['.claude/settings.local.json', '.codex/hooks.json']) {
    assert.match(place.read(path), /before-tool/);
    assert.equal(existsSync(join(tree, path)), false, path);
  }
  const { projects } = parseLoosely(place.read('~/.claude.json')) as { projects: JsonObject };
  assert.deepEqual(Object.keys(projects), [place.repo]);
  for (const cwd of [place.repo, tree])
    assert.equal(git(place, cwd, 'status', '--porcelain'), '', 'nothing to commit by accident');
  assert.match((await place.cox(['init', '--yes'])).out, /Already set up/);
  assert.equal((await place.cox(['init', '--undo'])).code, 0);
  assert.deepEqual(pictureOf(place), before);
});

test('[HOOK-3] a worktree added later: doctor names it, from every side, and cox init wires it', {
  timeout: 120_000,
}, async () => {
  using place = repository();
  codexThatSays(place, 'trusted');
  await place.cox(['init', '--yes']);
  const tree = addTree(place, 'later');
  const worktrees = async (cwd: string) => {
    const { out } = await place.cox(['doctor', '--json'], {
      cwd,
      env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    });
    const { checks } = JSON.parse(out) as { checks: (JsonObject & { check: string })[] };
    return checks.filter(({ check }) => /worktrees|codex trust/.test(check));
  };
  for (const cwd of [place.repo, tree]) {
    const checks = await worktrees(cwd);
    for (const client of ['codex', 'gemini-cli']) {
      const found = checks.find(({ check }) => check === `${client} worktrees`);
      assert.equal(found?.status, 'wrong', `${client} in ${cwd}`);
      assert.ok(String(found?.message).endsWith(`: ${tree}`));
      assert.equal(found?.fix, 'Run `cox init`.');
    }
  }
  const updated = await place.cox(['init', '--yes']);
  assert.match(updated.out, /^Updated\.$/m);
  assert.match(updated.out, /created {2}.*\/later\/\.codex\/config\.toml/);
  for (const cwd of [place.repo, tree])
    assert.deepEqual(
      (await worktrees(cwd)).map(({ check, status }) => [check, status]),
      [['codex trust', 'ok']],
    );
  await place.cox(['init', '--undo'], { cwd: tree });
  assert.deepEqual(agentFiles(place), []);
});

test('[HOOK-3] a worktree whose folder is gone is left out and said; one that git has locked is wired', async () => {
  using place = repository();
  const [gone, locked] = [addTree(place, 'gone'), addTree(place, 'locked')];
  git(place, place.repo, 'worktree', 'lock', locked);
  rmSync(gone, { recursive: true });
  const { code, out } = await place.cox(['init', '--yes']);
  assert.equal(code, 0);
  assert.ok(out.includes(`The worktree ${gone} is not there, or not yours to write, and is left out.`));
  assert.equal(existsSync(gone), false);
  assert.match(place.read('~/locked/.gemini/settings.json'), /before-tool/);
});

test('[HOOK-3] worktrees of a bare repository: each has its own hooks', async () => {
  using place = repository();
  const bare = join(place.home, 'bare.git');
  git(place, place.home, 'clone', '-q', '--bare', place.repo, bare);
  const [one, two] = ['one', 'two'].map((name) => join(place.home, name)) as [string, string];
  for (const tree of [one, two]) git(place, bare, 'worktree', 'add', '-q', tree);
  const before = pictureOf(place);
  assert.equal((await place.cox(['init', '--yes', '--trust'], { cwd: one })).code, 0);
  for (const name of ['one', 'two']) {
    assert.match(place.read(`~/${name}/.codex/hooks.json`), /codex before-tool/);
    assert.ok(place.read('~/.codex/config.toml').includes(`[projects."${join(place.home, name)}"]`));
    assert.ok(place.read('~/.codex/config.toml').includes(`${name}/.codex/hooks.json:pre_tool_use:0:0"]`));
  }
  await place.cox(['init', '--undo'], { cwd: two });
  assert.deepEqual(pictureOf(place), before);
});

test('[HOOK-3] a worktree that was moved is still ours to undo', async () => {
  using place = repository();
  const tree = addTree(place, 'tree');
  await place.cox(['init', '--yes']);
  git(place, place.repo, 'worktree', 'move', tree, join(place.home, 'moved'));
  assert.match((await place.cox(['init', '--yes'])).out, /Already set up/);
  await place.cox(['init', '--undo']);
  assert.deepEqual(agentFiles(place), []);
});
