import assert from 'node:assert/strict';
import { chmodSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { geminiRule } from '../../../src/transports/cli/init/clients/gemini-trust.ts';
import { type Bench, bench, codexThatSays } from './support.ts';

interface Check {
  check: string;
  status: string;
  message: string;
  fix?: string;
}

async function examined(
  place: Bench,
  env: Record<string, string> = {},
): Promise<{ code: number; of: (name: string) => Check | undefined; all: Check[] }> {
  const { code, out, err } = await place.cox(['doctor', '--json'], {
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', ...env },
  });
  assert.equal(err, '');
  const { checks, success, wrong } = JSON.parse(out) as { checks: Check[]; success: boolean; wrong: number };
  assert.deepEqual([success, wrong], [code === 0, checks.filter(({ status }) => status === 'wrong').length]);
  return { code, of: (name) => checks.find(({ check }) => check === name), all: checks };
}

test('[HOOK-3] doctor: all three wired and trusted, a round trip through each, all is well', {
  timeout: 120_000,
}, async () => {
  using place = bench();
  codexThatSays(place, 'trusted');
  await place.cox(['init', '--yes']);
  const before = place.picture();
  const { code, of, all } = await examined(place);
  assert.equal(code, 0, JSON.stringify(all, null, 1));
  for (const client of ['claude-code', 'codex', 'gemini-cli']) {
    assert.match(of(client)?.message ?? '', /1\.2\.3/);
    assert.match(of(`${client} mcp`)?.message ?? '', /^\d+ tools, check_locks answers$/);
    assert.match(
      of(`${client} hooks`)?.message ?? '',
      /^[56] of them run; denies a held file, passes one's own/,
    );
  }
  assert.equal(of('codex trust')?.message, 'all 5 hooks are trusted');
  const client = (picture: Record<string, string>) =>
    Object.entries(picture).filter(([path]) => !path.startsWith('repo/.git/coxswain'));
  assert.deepEqual(client(place.picture()), client(before), 'looking changes nothing but the store');
});

test('[HOOK-3] doctor: nothing set up is said, with what to do', async () => {
  using place = bench({ clients: ['codex'] });
  const { code, of } = await examined(place);
  assert.equal(code, 1);
  assert.deepEqual(of('claude-code')?.status, 'idle');
  assert.match(of('codex setup')?.fix ?? '', /cox init --client codex/);
  assert.match(of('clients')?.fix ?? '', /cox init/);
  const { out } = await place.cox(['doctor', '--color']);
  assert.ok(out.includes('\u001b[32m✔\u001b[39m node'), out);
  const lines = out.split('\n');
  const at = lines.findIndex((line) => line.includes('no agent client is set up here'));
  assert.ok(lines[at]?.startsWith('\u001b[31m✖\u001b[39m clients'), out);
  assert.ok(lines[at + 1]?.includes('→ Run `cox init`.'), out);
  assert.match(out, /1 thing to put right\.\n$/);
});

test('[HOOK-3] doctor: a hook or a server that is gone, and one that lets everything pass, are found', {
  timeout: 120_000,
}, async () => {
  using place = bench({ clients: ['claude'] });
  await place.cox(['init', '--yes']);
  const settings = '.claude/settings.local.json';
  const sound = place.read(settings);
  place.write(settings, sound.replaceAll(/\\"[^"]*\/dist\/hook\.cjs\\"/g, '\\"/gone/hook.cjs\\"'));
  place.write('~/.claude.json', place.read('~/.claude.json').replace(/"[^"]*\/bin\/cox"/, '"/gone/cox"'));
  const gone = await examined(place);
  assert.equal(gone.code, 1);
  assert.match(gone.of('claude-code before-tool')?.message ?? '', /gone\/hook\.cjs/);
  assert.match(gone.of('claude-code mcp')?.message ?? '', /gone\/cox/);
  const lax = place.write('lax/hook.cjs', '');
  place.write(settings, sound.replaceAll(/\\"[^"]*\/dist\/hook\.cjs\\"/g, `\\"${lax}\\"`));
  assert.match(
    (await examined(place)).of('claude-code before-tool')?.message ?? '',
    /does not deny a file that somebody else holds/,
  );
  place.write(settings, sound.replace('"PreToolUse"', '"PreToolUSe"'));
  assert.match((await examined(place)).of('claude-code hooks')?.message ?? '', /not set up: PreToolUse/);
  place.write(settings, `${sound}}`);
  assert.match(
    (await examined(place)).of('claude-code')?.message ?? '',
    /settings\.local\.json:\d+ is no JSON/,
  );
});

test('[HOOK-3] doctor: hooks that Codex does not trust do not run, and that is wrong', {
  timeout: 60_000,
}, async () => {
  using place = bench({ clients: [] });
  await place.cox(['init', '--yes', '--client', 'codex']);
  assert.equal((await examined(place)).of('codex trust')?.status, 'idle', 'nobody to ask');
  codexThatSays(place, 'untrusted');
  assert.match((await examined(place)).of('codex trust')?.message ?? '', /5 of 5 hooks are not trusted/);
  const toml = place.read('.codex/config.toml');
  place.write('.codex/config.toml', `${toml}x = = 1\n`);
  assert.match((await examined(place)).of('codex')?.message ?? '', /config\.toml:\d+ is no TOML/);
  place.write('.codex/config.toml', toml);
  codexThatSays(place, undefined);
  assert.match(
    (await examined(place)).of('codex trust')?.fix ?? '',
    /cox init --trust.*say that you trust the folder/,
  );
});

test('[HOOK-3] doctor: what Gemini CLI and Claude Code noted about the folder', async () => {
  const rules: [Record<string, string>, boolean | undefined][] = [
    [{}, undefined],
    [{ '/a/b': 'TRUST_FOLDER' }, true],
    [{ '/a': 'TRUST_FOLDER', '/a/b': 'DO_NOT_TRUST' }, false],
    [{ '/a/x': 'TRUST_PARENT' }, true],
    [{ '/a/bc': 'TRUST_FOLDER', '/a/b/c': 'TRUST_FOLDER' }, undefined],
    [{ '/': 'TRUST_FOLDER' }, true],
  ];
  for (const [given, expected] of rules)
    assert.equal(geminiRule(given, '/a/b'), expected, JSON.stringify(given));
  using place = bench({ clients: ['gemini'] });
  await place.cox(['init', '--yes']);
  const none = await examined(place, { GEMINI_CLI_TRUST_WORKSPACE: '' });
  assert.match(none.of('gemini-cli trust')?.message ?? '', /not trusted yet/);
  place.write('~/.gemini/trustedFolders.json', JSON.stringify({ [place.repo]: 'TRUST_FOLDER' }));
  assert.equal(
    (await examined(place, { GEMINI_CLI_TRUST_WORKSPACE: '' })).of('gemini-cli trust')?.status,
    'ok',
  );
});

test('[HOOK-3] doctor: a store that does not open, or that others can read', async () => {
  using place = bench({ clients: [] });
  place.write('store.db', 'this is no database, it is a text of some length that goes on for a while');
  const broken = await examined(place, { COX_STORE: `sqlite:${place.at('store.db')}` });
  assert.equal(broken.of('store')?.status, 'wrong');
  place.write('.git/coxswain', 'x');
  assert.match(
    (await examined(place)).of('store')?.message ?? '',
    /is a file and not a folder: move it away/,
  );
  rmSync(place.at('.git/coxswain'));
  assert.equal((await examined(place)).of('store')?.status, 'ok');
  chmodSync(place.at('.git/coxswain/cox.db'), 0o644);
  assert.match((await examined(place)).of('store')?.fix ?? '', /^chmod 600 /);
});
