import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { codexHooksIn } from '../../../src/transports/cli/init/clients/codex-trust.ts';
import { type Bench, bench, codexThatSays } from './support.ts';

const CONFIG = '~/.codex/config.toml';
const FOLDERS = '~/.gemini/trustedFolders.json';

interface Notes {
  projects?: Record<string, JsonObject>;
  hooks?: { state?: Record<string, JsonObject> };
}

const notes = (place: Bench) => parse(place.read(CONFIG)) as Notes;
const steps = async (place: Bench, words: readonly string[]) => {
  const { out, code } = await place.cox(['init', '--json', ...words]);
  const { next_steps } = JSON.parse(out) as {
    next_steps: { client: string; ready: boolean; message?: string }[];
  };
  return { code, of: (client: string) => next_steps.find((step) => step.client === client) };
};

test('[HOOK-3] a hook is known to Codex by its place and its words, as the real Codex 0.166.0 listed them', () => {
  const text = JSON.stringify({
    hooks: {
      PreToolUse: [
        { matcher: 'Bash', hooks: [{ type: 'command', command: 'guard' }] },
        {
          matcher: '^(Bash|apply_patch)$',
          hooks: [
            { type: 'command', command: 'mine' },
            {
              type: 'command',
              command: '"/opt/é $n" "/p/dist/hook.cjs" codex before-tool --locks auto',
              timeout: 15,
            },
          ],
        },
      ],
      SessionEnd: [
        {
          hooks: [
            {
              type: 'command',
              command: '"/n" "/p/dist/hook.cjs" codex session-end --locks auto',
              timeout: 3,
            },
          ],
        },
      ],
    },
  });
  assert.deepEqual(codexHooksIn(text, '/r/.codex/hooks.json'), [
    {
      key: '/r/.codex/hooks.json:pre_tool_use:1:1',
      hash: 'sha256:4e10d864179808d00c6a443fdad541230cf90f4144280da44bfe5a5a17e09a44',
    },
    {
      key: '/r/.codex/hooks.json:session_end:0:0',
      hash: 'sha256:f9260a427e0cb1f10284b3e53a337d805259bbb586106aed577f69dfc098c5ec',
    },
  ]);
});

test('[HOOK-3] --yes alone trusts nothing, and the last lines say what is left in each client', async () => {
  using place = bench();
  const { out } = await place.cox(['init', '--yes']);
  assert.throws(() => place.read(CONFIG), /ENOENT/);
  assert.throws(() => place.read(FOLDERS), /ENOENT/);
  assert.match(out, /Gemini CLI reads only the folder it is started in/);
  const last = out.split('\n').slice(-6, -1);
  assert.match(last[0] ?? '', /^! Claude Code: say yes when it asks/);
  assert.match(
    last[1] ?? '',
    /^! Codex: does not run the hooks yet, and does not say so: .*\/hooks.*`cox init --trust`/,
  );
  assert.match(
    last[2] ?? '',
    /^! Gemini CLI: starts no hook and no server in .*repo yet.*`cox init --trust`/,
  );
  assert.match(last[4] ?? '', /^`cox doctor` checks all of it/);
  assert.match((await place.cox(['init', '--yes'])).out, /Already set up[\s\S]*! Codex: does not run/);
});

test('[HOOK-3] --trust: this repository and exactly our hooks, in the same diff, and undone byte for byte', async () => {
  using place = bench();
  codexThatSays(place, 'trusted');
  const others = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'guard' }] }] };
  place.write('.codex/hooks.json', JSON.stringify({ hooks: others }, null, 2));
  place.write(CONFIG, '# mine\nmodel = "x"\n\n[projects."/other"]\ntrust_level = "trusted" # keep\n', 0o640);
  place.write(FOLDERS, '{\n\t"/other": "TRUST_FOLDER"\n}');
  const before = place.picture();
  const { code, out } = await place.cox(['init', '--yes', '--trust']);
  assert.equal(code, 0);
  assert.match(out, /^\+\[projects\."\/.*\/repo"\]\n\+trust_level = "trusted"$/m);
  assert.match(out, /^\+\t"\/.*\/repo": "TRUST_FOLDER"$/m);
  assert.match(out, /✔ Codex is ready\.\n✔ Gemini CLI is ready\./);
  const { projects, hooks } = notes(place);
  assert.equal(projects?.[place.repo]?.trust_level, 'trusted');
  assert.deepEqual(
    Object.keys(hooks?.state ?? {}).map((key) => key.replace(/.*hooks\.json:/, '')),
    ['pre_tool_use:1:0', 'session_start:0:0', 'post_tool_use:0:0', 'stop:0:0', 'session_end:0:0'],
  );
  assert.match(place.read(CONFIG), /^# mine\n[\s\S]*# keep\n/);
  assert.match((await place.cox(['init', '--yes', '--trust'])).out, /^Already set up/);
  await place.cox(['init', '--undo']);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] nobody had used the clients: trust makes their files, private, and undo leaves no trace', async () => {
  using place = bench();
  const before = place.picture();
  codexThatSays(place, 'trusted');
  assert.equal((await steps(place, ['--yes', '--trust'])).of('codex')?.ready, true);
  for (const path of [CONFIG, FOLDERS])
    assert.match(place.picture()[`home/${path.slice(2)}`] ?? '', /^600 /, path);
  await place.cox(['init', '--undo']);
  assert.deepEqual(place.picture(), before, 'asking Codex has left nothing either');
});

test('[HOOK-3] Codex has the last word on what it trusts', async () => {
  using place = bench({ clients: ['codex'] });
  codexThatSays(place, 'untrusted');
  const { of } = await steps(place, ['--yes', '--trust']);
  assert.match(of('codex')?.message ?? '', /does not take what was written for .*repo: start `codex`/);
  using silent = bench({ clients: ['codex'] });
  assert.match((await steps(silent, ['--yes', '--trust'])).of('codex')?.message ?? '', /could not be asked/);
});

test('[HOOK-3] a person who said no in the client is not overruled', async () => {
  using place = bench();
  place.write(CONFIG, `[projects."${place.repo}"]\ntrust_level = "untrusted"\n`);
  place.write(FOLDERS, JSON.stringify({ [place.repo]: 'DO_NOT_TRUST' }));
  const { code, of } = await steps(place, ['--yes', '--trust']);
  assert.equal(code, 0);
  assert.equal(notes(place).projects?.[place.repo]?.trust_level, 'untrusted');
  assert.match(of('codex')?.message ?? '', /say that you trust the folder/);
  assert.deepEqual(JSON.parse(place.read(FOLDERS)), { [place.repo]: 'DO_NOT_TRUST' });
  assert.match(of('gemini-cli')?.message ?? '', /\/permissions/);
  const off = `${place.at('.codex/hooks.json')}:stop:0:0`;
  place.write(CONFIG, `[hooks.state."${off}"]\nenabled = false\n`);
  await place.cox(['init', '--yes', '--trust']);
  assert.deepEqual({ ...notes(place).hooks?.state?.[off] }, { enabled: false });
});

test('[HOOK-3] what a person trusted before stays trusted after the undo', async () => {
  using place = bench();
  const config = `[projects."${place.repo}"]\ntrust_level = "trusted"\n`;
  place.write(CONFIG, config);
  place.write(FOLDERS, JSON.stringify({ [place.repo]: 'TRUST_FOLDER' }));
  const before = place.picture();
  await place.cox(['init', '--yes', '--trust']);
  assert.ok(place.read(CONFIG).startsWith(config));
  place.write(CONFIG, `${place.read(CONFIG)}\n[tui]\ntheme = "dark"\n`);
  await place.cox(['init', '--undo']);
  assert.equal(place.read(CONFIG), `${config}\n[tui]\ntheme = "dark"\n`);
  place.write(CONFIG, config);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] decided otherwise since: undo takes back only what still says what it wrote', async () => {
  using place = bench();
  await place.cox(['init', '--yes', '--trust']);
  place.write(CONFIG, place.read(CONFIG).replace('trust_level = "trusted"', 'trust_level = "untrusted"'));
  place.write(FOLDERS, JSON.stringify({ [place.repo]: 'DO_NOT_TRUST' }));
  await place.cox(['init', '--undo']);
  assert.deepEqual(JSON.parse(JSON.stringify(notes(place))), {
    projects: { [place.repo]: { trust_level: 'untrusted' } },
  });
  assert.deepEqual(JSON.parse(place.read(FOLDERS)), { [place.repo]: 'DO_NOT_TRUST' });
});

test('[HOOK-3] other hooks need trust anew: said without --trust, renewed with it, and still undone', async () => {
  using place = bench({ clients: ['codex'] });
  const before = place.picture();
  await place.cox(['init', '--yes', '--trust']);
  const first = notes(place).hooks?.state ?? {};
  const { of } = await steps(place, ['--yes', '--locks', 'require']);
  assert.match(of('codex')?.message ?? '', /type \/hooks/);
  await place.cox(['init', '--yes', '--locks', 'require', '--trust']);
  const second = notes(place).hooks?.state ?? {};
  assert.deepEqual(Object.keys(second), Object.keys(first));
  for (const key of Object.keys(first)) assert.notDeepEqual(second[key], first[key]);
  await place.cox(['init', '--undo']);
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] in a terminal trust is a question of its own, and no is the default', async () => {
  using place = bench();
  const before = place.picture();
  const refused = await place.cox(['init'], { answers: ['y', ''] });
  assert.match(refused.out, /trusted in Codex and Gemini CLI\? .*\[y\/N\] /);
  assert.throws(() => place.read(CONFIG), /ENOENT/);
  assert.match(place.read('.codex/hooks.json'), /before-tool/);
  const asked = await place.cox(['init'], { answers: ['y'] });
  assert.doesNotMatch(asked.out, /Write th/, 'set up already: only trust is left to ask for');
  assert.equal(notes(place).projects?.[place.repo]?.trust_level, 'trusted');
  const done = await place.cox(['init'], { answers: [] });
  assert.doesNotMatch(done.out, /\[y\/N\]/);
  await place.cox(['init', '--undo']);
  assert.deepEqual(place.picture(), before);
});

test("[HOOK-3] a client's own file that cannot be used: --trust is refused, nothing is written; without it, said", async () => {
  using place = bench({ clients: ['codex'] });
  for (const [text, said] of [
    ['a = = 1\n', /config\.toml:1 is no TOML/],
    [
      'projects = { "/other" = { trust_level = "trusted" } }\n',
      /projects in a form that cannot be edited safely/,
    ],
  ] as const) {
    place.write(CONFIG, text);
    const before = place.picture();
    const { code, err } = await place.cox(['init', '--yes', '--trust']);
    assert.equal(code, 2);
    assert.match(err, said);
    assert.deepEqual(place.picture(), before);
  }
  place.write(CONFIG, 'a = = 1\n');
  assert.match(
    (await steps(place, ['--yes'])).of('codex')?.message ?? '',
    /cannot be looked into: .*is no TOML/,
  );
});

test('[HOOK-3] for the user everywhere: the server and the trust in one file, out again together', async () => {
  using place = bench({ clients: ['codex'] });
  const before = place.picture();
  await place.cox(['init', '--yes', '--scope', 'user', '--trust']);
  assert.match(place.read(CONFIG), /\[mcp_servers\.coxswain\][\s\S]*\.codex\/hooks\.json:stop:0:0"\]/);
  assert.equal(notes(place).projects, undefined, 'what is for all folders needs no folder’s trust');
  await place.cox(['init', '--yes', '--scope', 'user', '--locks', 'warn']);
  place.write(CONFIG, `${place.read(CONFIG)}\n[tui]\ntheme = "dark"\n`);
  await place.cox(['init', '--undo', '--scope', 'user']);
  assert.equal(place.read(CONFIG).trim(), '[tui]\ntheme = "dark"');
  rmSync(place.at('~/.codex'), { recursive: true });
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] two repositories trusted: each undo takes back its own', async () => {
  using place = bench();
  const before = place.picture();
  const other = place.at('~/other');
  place.write('~/other/file', '');
  await place.cox(['init', '--yes', '--trust']);
  await place.cox(['init', '--yes', '--trust'], { cwd: other });
  await place.cox(['init', '--undo']);
  assert.deepEqual(Object.keys(notes(place).projects ?? {}), [other]);
  assert.deepEqual(Object.keys(JSON.parse(place.read(FOLDERS)) as object), [other]);
  await place.cox(['init', '--undo'], { cwd: other });
  rmSync(other, { recursive: true });
  assert.deepEqual(place.picture(), before);
});

test('[HOOK-3] --trust beside --undo is refused', async () => {
  using place = bench();
  const { code, err } = await place.cox(['init', '--undo', '--trust']);
  assert.equal(code, 2);
  assert.match(err, /trust/);
});
