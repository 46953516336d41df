import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { parseLoosely } from '../../../src/transports/cli/init/json-text.ts';
import { type Bench, bench } from './support.ts';

const CLIENT_FILES = [
  '.claude/settings.local.json',
  '~/.claude.json',
  '.codex/hooks.json',
  '.codex/config.toml',
  '.gemini/settings.json',
];

const json = (place: Bench, path: string) => parseLoosely(place.read(path)) as JsonObject;
const commands = (place: Bench, path: string) => JSON.stringify(json(place, path).hooks);

/** What people have, in each of the forms that JSON and TOML are really found in. */
const EXISTING: Record<string, string> = {
  '.claude/settings.local.json':
    '{\r\n\t// mine\r\n\t"permissions": { "allow": ["Bash(ls)"] },\r\n\t"hooks": {\r\n\t\t"PreToolUse": [\r\n\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "guard" }] },\r\n\t\t],\r\n\t},\r\n}\r\n',
  '~/.claude.json':
    '{"numStartups":3,"projects":{"/elsewhere":{"mcpServers":{}}},"mcpServers":{"mine":{"command":"x"}}}',
  '.codex/hooks.json': '\ufeff{\n    "description": "ours",\n    "hooks": {}\n}',
  '.codex/config.toml': '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y" # keep\n',
  '.gemini/settings.json':
    '{\n  "mcpServers": {\n    "other": { "command": "y" } // keep\n  },\n  "theme": "dark"\n}\n',
  'AGENTS.md': '# Rules\n\nBe kind.',
};

test('[HOOK-3] nothing there yet: all three are wired with absolute paths, and undo leaves no trace', async () => {
  using place = bench();
  const before = place.picture();
  const done = await place.cox(['init', '--yes', '--skills']);
  assert.equal(done.code, 0, done.err);
  for (const path of CLIENT_FILES)
    assert.match(done.out, new RegExp(`\\+\\+\\+ .*${path.replace('~/', '')}`));
  const { command, args } = (
    json(place, '.gemini/settings.json').mcpServers as { coxswain: { command: string; args: string[] } }
  ).coxswain;
  assert.equal(command, process.execPath);
  assert.match(args.join(' '), /^\/.*\/bin\/cox mcp --client gemini-cli$/);
  const projects = json(place, '~/.claude.json').projects as Record<string, { mcpServers: JsonObject }>;
  assert.ok(projects[place.repo]?.mcpServers.coxswain);
  assert.equal(statSync(place.at('~/.claude.json')).mode & 0o777, 0o600);
  for (const [path, event] of [
    ['.claude/settings.local.json', 'PreToolUse'],
    ['.codex/hooks.json', 'PreToolUse'],
    ['.gemini/settings.json', 'BeforeTool'],
  ] as const) {
    const [group] =
      (json(place, path).hooks as Record<string, { hooks: { command: string }[] }[]>)[event] ?? [];
    assert.match(
      group?.hooks[0]?.command ?? '',
      /^"\/.*" --no-rehash-snapshot "\/.*\/dist\/hook\.cjs" \S+ before-tool --locks auto$/,
    );
  }
  assert.match(place.read('.git/info/exclude'), /\n\/\.codex\/config\.toml\n/);
  const again = await place.cox(['init', '--yes', '--skills']);
  assert.deepEqual([again.code, again.err], [0, '']);
  assert.match(again.out, /^Already set up/);
  const undone = await place.cox(['init', '--undo']);
  assert.equal(undone.code, 0, undone.err);
  assert.deepEqual(place.picture(), before);
  assert.match((await place.cox(['init', '--undo'])).out, /^Nothing to undo here/);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] [LOCK-12] whatever can write a file is held up before it, and nothing else is', async () => {
  using place = bench();
  assert.equal((await place.cox(['init', '--yes'])).code, 0);
  for (const [path, event, writers, server] of [
    ['.claude/settings.local.json', 'PreToolUse', ['Edit', 'Write', 'NotebookEdit', 'Bash'], 'mcp__files__'],
    ['.codex/hooks.json', 'PreToolUse', ['apply_patch', 'Bash'], 'mcp__files__'],
    ['.gemini/settings.json', 'BeforeTool', ['write_file', 'replace', 'run_shell_command'], 'mcp_files_'],
  ] as const) {
    const [group] = (json(place, path).hooks as Record<string, { matcher: string }[]>)[event] ?? [];
    const matcher = new RegExp(group?.matcher ?? 'none');
    for (const tool of [...writers, `${server}write_file`, `${server}move_file`]) assert.match(tool, matcher);
    for (const tool of ['Read', 'read_file', 'BashOutput', `${server}read_file`])
      assert.doesNotMatch(tool, matcher);
  }
});

test('[HOOK-3] odd files with other servers and hooks: everything else stays, and undo restores every byte and mode', async () => {
  using place = bench();
  for (const [path, text] of Object.entries(EXISTING))
    place.write(path, text, path === '.codex/config.toml' ? 0o640 : undefined);
  const before = place.picture();
  const { code, err, out } = await place.cox(['init', '--yes', '--skills']);
  assert.equal(code, 0, err);
  assert.match(commands(place, '.claude/settings.local.json'), /"guard".*claude-code before-tool/);
  assert.deepEqual(Object.keys(json(place, '.gemini/settings.json').mcpServers as object), [
    'other',
    'coxswain',
  ]);
  assert.match(place.read('.gemini/settings.json'), /\/\/ keep/);
  assert.match(
    place.read('.codex/config.toml'),
    /^# mine\nmodel = "x"\n\n\[mcp_servers\.other\]\ncommand = "y" # keep\n\n/,
  );
  assert.equal(statSync(place.at('.codex/config.toml')).mode & 0o777, 0o640);
  assert.match(place.read('AGENTS.md'), /^# Rules\n\nBe kind\.\n\n<!-- coxswain: begin/);
  assert.doesNotMatch(
    place.read('.git/info/exclude'),
    /claude/,
    'what was there before is nobody else’s to hide',
  );
  assert.match(
    out,
    /^ \t\t\t\{ "matcher": "Bash".*\},\n\+\t\t\t\{\n\+\t\t\t\t"matcher": "\^\(Edit/m,
    'a diff with what is around it',
  );
  assert.equal((await place.cox(['init', '--undo'])).code, 0);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] changed flags are written, and one undo takes all of it away', async () => {
  using place = bench();
  place.write('.gemini/settings.json', EXISTING['.gemini/settings.json'] ?? '');
  const before = place.picture();
  await place.cox(['init', '--yes', '--client', 'gemini-cli']);
  assert.equal((await place.cox(['init', '--yes', '--locks', 'require', '--store', 'sqlite:s.db'])).code, 0);
  assert.doesNotMatch(commands(place, '.gemini/settings.json'), /locks auto/);
  assert.match(
    commands(place, '.gemini/settings.json'),
    /gemini-cli before-tool --locks require --store \\"sqlite:\/.*\/repo\/s\.db\\"/,
  );
  assert.match(place.read('.codex/config.toml'), /"--store", "sqlite:\/.*\/repo\/s\.db"/);
  assert.equal((await place.cox(['init', '--yes', '--store', 'files:.ai-workspace'])).code, 0);
  assert.match(place.read('.codex/config.toml'), /"--store", "files:\/.*\/repo\/\.ai-workspace"/);
  await place.cox(['init', '--undo']);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] paths of a checkout that was moved are put right', async () => {
  using place = bench();
  await place.cox(['init', '--yes']);
  for (const path of CLIENT_FILES)
    place.write(
      path,
      place
        .read(path)
        .replaceAll(/"[^"]*\/(bin\/cox|dist\/hook\.cjs)/g, '"/gone/$1')
        .replaceAll(/\\"[^"]*\/dist/g, '\\"/gone/dist'),
    );
  assert.match(place.read('.codex/hooks.json'), /\/gone\/dist\/hook\.cjs/);
  assert.equal((await place.cox(['init', '--yes'])).code, 0);
  for (const path of CLIENT_FILES) assert.doesNotMatch(place.read(path), /gone/, path);
  for (const path of ['.claude/settings.local.json', '.codex/hooks.json', '.gemini/settings.json'])
    assert.equal(place.read(path).match(/before-tool/g)?.length, 1, path);
});

test('[HOOK-3] edited after init: undo takes out only what is ours, and says so', async () => {
  using place = bench();
  for (const [path, text] of Object.entries(EXISTING)) place.write(path, text);
  await place.cox(['init', '--yes', '--skills']);
  const edit = (path: string, from: string | RegExp, to: string) =>
    place.write(path, place.read(path).replace(from, to));
  edit('.gemini/settings.json', '"dark"', '"light"');
  edit('.codex/config.toml', /$/, '\n[projects."/r"]\ntrust_level = "trusted"\n');
  edit('AGENTS.md', 'kind', 'brave');
  edit('.claude/skills/coordination/SKILL.md', 'Tools of', 'My tools of');
  const { out } = await place.cox(['init', '--undo']);
  assert.match(out, /settings\.json was edited since: only what cox init had written was taken out/);
  assert.match(out, /coordination\/SKILL\.md was edited since and is left as it is/);
  assert.equal(
    place.read('.gemini/settings.json'),
    EXISTING['.gemini/settings.json']?.replace('dark', 'light'),
  );
  assert.equal(
    place.read('.codex/config.toml').replace(/\n+\[projects[\s\S]*/, '\n'),
    EXISTING['.codex/config.toml'],
  );
  assert.match(place.read('.codex/config.toml'), /\[projects\."\/r"\]/);
  assert.equal(place.read('AGENTS.md').trimEnd(), '# Rules\n\nBe brave.');
  assert.equal(place.read('.claude/settings.local.json'), EXISTING['.claude/settings.local.json']);
  assert.match(place.read('.claude/skills/coordination/SKILL.md'), /My tools of/);
});

test('[HOOK-3] edited, then init with other flags: the edit survives the undo', async () => {
  using place = bench({ clients: ['gemini'] });
  await place.cox(['init', '--yes']);
  const path = '.gemini/settings.json';
  place.write(path, place.read(path).replace('{', '{\n  "theme": "dark",'));
  await place.cox(['init', '--yes', '--locks', 'warn']);
  assert.match(commands(place, path), /--locks warn/);
  await place.cox(['init', '--undo']);
  assert.deepEqual(json(place, path), { theme: 'dark' });
});

test('[HOOK-3] linked configuration files: the file at the other end is edited, the link stays', async () => {
  using place = bench({ clients: ['gemini', 'codex'] });
  place.write('~/dotfiles/gemini.json', '{ "theme": "dark" }\n');
  mkdirSync(place.at('.gemini'));
  mkdirSync(place.at('.codex'));
  symlinkSync(place.at('~/dotfiles/gemini.json'), place.at('.gemini/settings.json'));
  symlinkSync('../../home/dotfiles/not-yet.toml', place.at('.codex/config.toml'));
  const before = place.picture();
  assert.equal((await place.cox(['init', '--yes'])).code, 0);
  assert.match(place.read('~/dotfiles/gemini.json'), /coxswain/);
  assert.match(place.read('~/dotfiles/not-yet.toml'), /coxswain/);
  await place.cox(['init', '--undo']);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] no git: the folder itself is wired, and undone', async () => {
  using place = bench({ git: false });
  const before = place.picture();
  assert.equal((await place.cox(['init', '--yes'])).code, 0);
  assert.ok(statSync(place.at('.codex/hooks.json')).isFile());
  await place.cox(['init', '--undo']);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] for the user everywhere: nothing in the repository, and not both at once', async () => {
  using place = bench();
  const before = place.picture();
  assert.equal((await place.cox(['init', '--yes', '--scope', 'user'])).code, 0);
  const repo = (picture: Record<string, string>) =>
    Object.entries(picture).filter(([path]) => path.startsWith('repo'));
  assert.deepEqual(repo(place.picture()), repo(before));
  assert.match(commands(place, '~/.claude/settings.json'), /before-tool/);
  assert.match(place.read('~/.codex/config.toml'), /mcp_servers\.coxswain/);
  const twice = await place.cox(['init', '--yes']);
  assert.equal(twice.code, 2);
  assert.match(twice.err, /set up with --scope user already.*\n.*cox init --undo --scope user/);
  assert.match((await place.cox(['init', '--undo'])).out, /Nothing to undo here[\s\S]*--scope user/);
  await place.cox(['init', '--undo', '--scope', 'user']);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] two repositories in one home: each undo leaves the other one wired', async () => {
  using place = bench({ clients: ['claude'] });
  const before = place.picture();
  const other = join(place.home, 'other');
  mkdirSync(other);
  await place.cox(['init', '--yes']);
  await place.cox(['init', '--yes'], { cwd: other });
  await place.cox(['init', '--undo']);
  const { projects } = json(place, '~/.claude.json') as { projects: JsonObject };
  assert.deepEqual(Object.keys(projects), [other]);
  await place.cox(['init', '--undo'], { cwd: other });
  rmdirSync(other);
  assert.deepEqual(place.picture(), before, 'whoever is last takes the shared folders along');
});

test('[HOOK-3] a file that is part of the repository: said, with the way out', async () => {
  using place = bench({ git: false, clients: ['gemini'] });
  const env = { ...place.env, GIT_CONFIG_GLOBAL: '/dev/null' };
  execFileSync('git', ['init', '-q', place.repo], { env });
  place.write('.gemini/settings.json', '{}');
  execFileSync('git', ['add', '-A'], { cwd: place.repo, env });
  const { code, out } = await place.cox(['init', '--yes']);
  assert.equal(code, 0);
  assert.match(
    out,
    /\.gemini\/settings\.json is part of the repository.*do not commit that, or use --scope user/,
  );
});
