import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { applyChanges, ChangedMeanwhile } from '../../../src/transports/cli/init/changes.ts';
import { isOurLauncher } from '../../../src/transports/cli/init/shell-launcher.ts';
import { inTerminal } from '../../support/pty.ts';
import { finished } from '../support.ts';
import { bench } from './support.ts';

test('[HOOK-3] one file that cannot be read as what it is, and nothing is written anywhere', async () => {
  const cases: [path: string, text: string, said: RegExp][] = [
    [
      '.gemini/settings.json',
      '{\n  "theme": "dark"\n  "x": 1\n}',
      /config_unusable: .*\.gemini\/settings\.json:3 is no JSON/,
    ],
    [
      '.claude/settings.local.json',
      '{ "hooks": [] }',
      /settings\.local\.json:1 has something else than an object at hooks/,
    ],
    ['.codex/config.toml', 'a = [1,\n', /config\.toml:\d is no TOML/],
    [
      '.codex/config.toml',
      '[mcp_servers.coxswain]\ncommand = "mine"\n',
      /config\.toml:1 already has an MCP server named coxswain[\s\S]*codex mcp remove coxswain/,
    ],
  ];
  for (const [path, text, said] of cases) {
    using place = bench();
    place.write(path, text);
    const before = place.picture();
    const { code, out, err } = await place.cox(['init', '--yes']);
    assert.match(err, said, path);
    assert.deepEqual([code, out], [2, '']);
    assert.deepEqual(place.picture(), before);
  }
});

test('[HOOK-3] a file that is not UTF-8, a skill that is somebody else’s: refused, untouched', async () => {
  using place = bench();
  place.write('.codex/hooks.json', '');
  writeFileSync(place.at('.codex/hooks.json'), Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
  const binary = place.picture();
  assert.match((await place.cox(['init', '--yes'])).err, /hooks\.json is not UTF-8/);
  assert.deepEqual(place.picture(), binary);
  rmSync(place.at('.codex/hooks.json'));
  place.write('.claude/skills/coordination/SKILL.md', 'mine');
  const before = place.picture();
  const { code, err } = await place.cox(['init', '--yes', '--skills']);
  assert.equal(code, 2);
  assert.match(err, /SKILL\.md exists and was not written by cox init/);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] without a terminal the plan is shown and a person is waited for', async () => {
  using place = bench();
  const before = place.picture();
  const asked = await place.cox(['init']);
  assert.equal(asked.code, 3);
  assert.match(asked.out, /^\+\[mcp_servers\.coxswain\]$/m);
  assert.match(asked.err, /Nothing was written: there is nobody to ask\..*--yes/);
  const quiet = await place.cox(['init', '--json']);
  assert.equal(quiet.code, 3);
  assert.equal((JSON.parse(quiet.out) as JsonObject).action, 'unconfirmed');
  const dry = await place.cox(['init', '--dry-run', '--json', '--client', 'codex']);
  assert.equal(dry.code, 0);
  const { action, clients, files } = JSON.parse(dry.out) as {
    action: string;
    clients: string[];
    files: JsonObject[];
  };
  const others = files.filter(({ file_path }) => !isOurLauncher(file_path));
  assert.deepEqual([action, clients, others.length], ['planned', ['codex'], 3]);
  assert.match(String(files[0]?.diff), /^--- \/dev\/null\n\+\+\+ .*hooks\.json\n@@ -0,0 \+1,\d+ @@\n\+\{/);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] in a terminal it asks; only a yes writes', async () => {
  using place = bench({ clients: ['codex'] });
  const before = place.picture();
  for (const answer of ['', 'n', 'nonsense']) {
    const { code, out, err } = await place.cox(['init'], { answers: [answer] });
    assert.match(out, /Write these [34] files\? \[y\/N\] $/);
    assert.deepEqual([code, err], [1, 'Nothing was written.\n']);
  }
  assert.deepEqual(place.picture(), before);
  assert.equal((await place.cox(['init'], { answers: ['Yes'] })).code, 0);
});

test('[HOOK-3] a real terminal: coloured diff, a question, Ctrl-C is no', async () => {
  using place = bench({ clients: ['codex'] });
  const options = { cwd: place.repo, env: { ...place.env, COX_STATE_DIR: join(place.home, 'state') } };
  await using stopped = await inTerminal(['init'], options);
  await stopped.shows('[y/N]');
  assert.ok(stopped.output().includes('\u001b[32m+[mcp_servers.coxswain]\u001b[39m'));
  stopped.type('\u0003');
  assert.equal(await stopped.ended(), 1);
  assert.deepEqual(readdirSync(place.home), []);
  await using agreed = await inTerminal(['init'], options);
  await agreed.shows('[y/N]');
  agreed.type('y\r');
  await agreed.shows('trusted in Codex?');
  agreed.type('\r');
  assert.equal(await agreed.ended(), 0);
  assert.deepEqual(readdirSync(place.home), ['state'], 'without a yes, no trust');
  assert.match(place.read('.codex/config.toml'), /coxswain/);
});

test('[HOOK-3] written by another program between the plan and the yes: noticed, nothing is lost', async () => {
  using place = bench();
  place.write('.gemini/settings.json', '{}');
  const meanwhile = () => {
    place.write('.gemini/settings.json', '{"theme":"new"}');
    return 'y';
  };
  const before = place.picture();
  const { code, err } = await place.cox(['init'], { answers: [meanwhile] });
  assert.equal(code, 1);
  assert.match(err, /config_changed: .*settings\.json was changed by another program/);
  assert.equal(place.read('.gemini/settings.json'), '{"theme":"new"}');
  place.write('.gemini/settings.json', '{}');
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] undo meets a file that was broken since: named, and nothing is taken out anywhere', async () => {
  using place = bench();
  await place.cox(['init', '--yes']);
  const sound = place.read('.gemini/settings.json');
  place.write('.gemini/settings.json', sound.slice(0, -4));
  const before = place.picture();
  const { code, err } = await place.cox(['init', '--undo']);
  assert.equal(code, 2);
  assert.match(err, /config_unusable: .*\.gemini\/settings\.json:\d+ is no JSON/);
  assert.deepEqual(place.picture(), before);
  place.write('.gemini/settings.json', sound);
  assert.equal((await place.cox(['init', '--undo'])).code, 0);
});

test('[HOOK-3] a write that fails half-way takes the others back', () => {
  using place = bench();
  const path = place.write('a.txt', 'old', 0o640);
  const before = place.picture();
  const [old, fresh] = [Buffer.from('old'), Buffer.from('new')];
  const changes = [
    { path: place.at('deep/er/b.txt'), before: undefined, after: fresh },
    { path, before: old, after: fresh },
    // By now it is no longer what it was.
    { path, before: old, after: fresh },
  ];
  assert.throws(() => applyChanges(changes), ChangedMeanwhile);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] killed half-way: undo puts back what was written and leaves what was not', async () => {
  using place = bench();
  place.write('.gemini/settings.json', '{ "theme": "dark" }');
  const before = place.picture();
  await place.cox(['init', '--yes']);
  // As if the process had died after its first files.
  place.write('.gemini/settings.json', '{ "theme": "dark" }');
  rmSync(place.at('.codex'), { recursive: true });
  place.write('.gemini/.settings.json.0123456789ab.new', '{ "theme":');
  assert.equal((await place.cox(['init', '--undo'])).code, 0);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] several at once: no original is lost, whoever wins', { timeout: 60_000 }, async () => {
  using place = bench();
  place.write('.gemini/settings.json', '{ "theme": "dark" }');
  const before = place.picture();
  const runs = Array.from({ length: 4 }, () => start(['init', '--yes', '--json'], place));
  const ended = await Promise.all(runs.map(finished));
  assert.ok(ended.some(({ code }) => code === 0));
  for (const { code, out } of ended)
    if (code !== 0) assert.equal((JSON.parse(out) as JsonObject).error, 'config_changed', out);
  assert.equal(place.read('.gemini/settings.json').match(/before-tool/g)?.length, 1);
  assert.match((await place.cox(['init', '--yes'])).out, /^Already set up/);
  assert.equal((await place.cox(['init', '--undo'])).code, 0);
  // The loser may have made the empty folders around the winner's record, and nothing tells which process made them.
  const rest = Object.entries(place.picture()).filter(([path]) => !/^home\/\.local(?:\/state)?$/.test(path));
  assert.deepEqual(Object.fromEntries(rest), before);
});

test('[HOOK-3] another cox init between the plan and the yes: its record is not written over', async () => {
  using place = bench();
  place.write('.gemini/settings.json', '{ "theme": "dark" }');
  const before = place.picture();
  const meanwhile = () => {
    execFileSync(process.execPath, [bin, 'init', '--yes'], { cwd: place.repo, env: place.env });
    return 'y';
  };
  const { code, err } = await place.cox(['init', '--locks', 'warn'], { answers: [meanwhile] });
  assert.equal(code, 1);
  assert.match(err, /config_changed/);
  assert.equal((await place.cox(['init', '--undo'])).code, 0);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] a lock left by a process that died is no lock', async () => {
  using place = bench();
  await place.cox(['init', '--yes']);
  const folder = place.at('~/.local/state/coxswain/init');
  const [name = ''] = readdirSync(folder);
  writeFileSync(join(folder, `${name}.lock`), String(process.pid));
  const busy = await place.cox(['init', '--yes', '--locks', 'warn']);
  assert.match(busy.err, /config_changed/);
  writeFileSync(join(folder, `${name}.lock`), '999999999');
  assert.equal((await place.cox(['init', '--yes', '--locks', 'warn'])).code, 0);
  assert.deepEqual(readdirSync(folder), [name]);
});

test('[HOOK-3] a folder that may not be written, or is a file: said, and nothing is left behind', async () => {
  using place = bench({ git: false });
  place.write('.codex', 'a file');
  const before = place.picture();
  const { code, err } = await place.cox(['init', '--yes']);
  assert.equal(code, 2);
  assert.match(err, /config_unusable: .*\.codex[\s\S]*nothing was changed/);
  assert.deepEqual(place.picture(), before);
  rmSync(place.at('.codex'));
  chmodSync(place.repo, 0o555);
  const locked = place.picture();
  const denied = await asNobody(['init', '--yes'], place);
  chmodSync(place.repo, 0o755);
  assert.equal(denied.code, 2, denied.err);
  assert.match(denied.err, /EACCES/);
  assert.deepEqual(Object.keys(place.picture()), Object.keys(locked));
});

type Owned = { home: string; repo: string; env: Record<string, string> };

const bin = fileURLToPath(new URL('../../../bin/cox', import.meta.url));

function start(words: string[], { repo, env }: Owned, as: { uid?: number; gid?: number } = {}): ChildProcess {
  return spawn(process.execPath, [bin, ...words], { cwd: repo, env, ...as });
}

/** Root may write everywhere, so the tests' root becomes another user. */
async function asNobody(words: string[], place: Owned) {
  const NOBODY = 65_534;
  if (process.getuid?.() !== 0) return await finished(start(words, place));
  chmodSync(join(place.home, '..'), 0o755);
  chownSync(place.home, NOBODY, NOBODY);
  return await finished(start(words, place, { uid: NOBODY, gid: NOBODY }));
}

test('[HOOK-3] nobody to wire, unknown words and a password in the store are refused', async () => {
  using place = bench({ clients: [] });
  const cases: [string[], RegExp][] = [
    [['init'], /none of them was found/],
    [['init', '--client', 'vim'], /client: expected some of claude-code,codex,gemini-cli/],
    [['init', '--scope', 'world'], /scope: expected one of project, user/],
    [['init', '--undo', '--client', 'codex'], /client: expected nothing beside --undo/],
    [['init', '--project', 'other'], /COX_PROJECT in the environment/],
    [['init', '--locks', 'maybe'], /locks: expected one of auto, require, warn/],
    [['init', '--store', 'postgres://me:secret@host/db'], /without a password/],
  ];
  for (const [words, said] of cases) {
    const { code, err } = await place.cox(words);
    assert.equal(code, 2, words.join(' '));
    assert.match(err, said);
    assert.doesNotMatch(err, /secret/);
  }
  const named = await place.cox(['init', '--client', 'codex', '--yes']);
  assert.equal(named.code, 0, 'a client that is named is wired before it is installed');
  mkdirSync(place.at('~/.gemini'));
  assert.match(
    (await place.cox(['init', '--dry-run'])).out,
    /Claude Code was not found and is left out[\s\S]*Codex was not found/,
  );
});

test('[HOOK-3] the originals are private', async () => {
  using place = bench();
  place.write('~/.claude.json', '{"token":"secret"}', 0o600);
  await place.cox(['init', '--yes']);
  const modes = Object.entries(place.picture()).filter(
    ([path]) => path.includes('.local/state/coxswain') && !path.includes('shells'),
  );
  assert.deepEqual(
    modes.map(([, content]) => content.split(' ')[0]),
    ['700', '700', '600'],
  );
  assert.match(readFileSync(place.at('~/.claude.json'), 'utf8'), /^\{"token":"secret", "projects"/);
});
