import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { operations } from '../../src/runtime/operation-list.ts';
import { main } from '../../src/transports/cli/main.ts';
import { cox, fakeTerminal, type Scratch, scratch } from './support.ts';

const run = promisify(execFile);

async function script(place: Scratch, shell: string): Promise<string> {
  const { terminal, written } = fakeTerminal(place.folder, { COX_STORE: place.store });
  assert.equal(await main(['completion', shell], terminal), 0, written.err);
  return written.out;
}

/** Presses Tab in a real bash, behind these words; the last one may be unfinished. */
const PRESS_TAB = `source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cox; printf '%s\\n' "\${COMPREPLY[@]}"`;

test('[CLI-1] bash completes groups, verbs, flags and the words a flag may have', async () => {
  using place = scratch();
  const file = join(place.folder, 'cox.bash');
  writeFileSync(file, await script(place, 'bash'));
  const tab = async (...words: string[]) => {
    const { stdout } = await run('bash', ['-c', PRESS_TAB, 'bash', file, ...words]);
    return stdout.trim().split('\n');
  };
  const cases: [string[], string[]][] = [
    [['cox', 'loc'], ['lock']],
    [
      ['cox', 'lo'],
      ['log', 'lock'],
    ],
    [
      ['cox', 'log', '--output', ''],
      ['text', 'jsonl', 'json'],
    ],
    [['cox', 'statu'], ['status']],
    [
      ['cox', 'lock', ''],
      ['acquire', 'release', 'check'],
    ],
    [['cox', '--store', 'lock', 'wor'], ['work']],
    [['cox', '--json', 'lock', 'acq'], ['acquire']],
    [['cox', 'lock', 'acquire', '--re'], ['--reason']],
    [['cox', 'lock', 'acquire', '--reason', 'check', '--ttl'], ['--ttl-minutes']],
    [
      ['cox', 'session', 'list', '--status', ''],
      ['active', 'idle', 'disconnected'],
    ],
    [['cox', 'session', 'list', '--status', 'i'], ['idle']],
    [
      ['cox', 'work', 'submit', '--on-dependency-failure', ''],
      ['block', 'skip', 'run'],
    ],
    [
      ['cox', 'completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['cox', 'watch', '--si'], ['--since']],
    [['cox', 'lock', 'acquire', '--reason', ''], ['']],
    [['cox', 'nonsense', 'acq'], ['']],
  ];
  for (const [words, expected] of cases) assert.deepEqual(await tab(...words), expected, words.join(' '));
  const first = await tab('cox', '');
  for (const { group } of operations) assert.ok(first.includes(group), group);
});

test('[CLI-1] every command and every flag is in all three scripts, and hidden in no quotes', async () => {
  using place = scratch();
  const scripts = await Promise.all(['bash', 'zsh', 'fish'].map((shell) => script(place, shell)));
  for (const { group, verb, input, positional = [], several } of operations) {
    const fields = Object.keys((await input()).json.properties as object);
    const flags = fields.filter((field) => !positional.includes(field) && field !== several);
    for (const text of scripts) {
      assert.ok(text.includes(`cox ${group} ${verb}`), `${group} ${verb}`);
      for (const flag of flags.map((field) => field.replaceAll('_', '-')))
        assert.ok(text.includes(`--${flag}`) || text.includes(`-l '${flag}'`), `${group} ${verb} --${flag}`);
    }
  }
  const [, zsh = '', fish = ''] = scripts;
  // Two shells that are seldom installed: at least what opens is closed, as each of them counts quotes.
  assert.equal((zsh.replaceAll("\\'", '').match(/'/g) ?? []).length % 2, 0);
  for (const line of fish.split('\n').filter((each) => !each.startsWith('#')))
    assert.equal((line.replaceAll(/\\\\|\\'/g, '').match(/'/g) ?? []).length % 2, 0, line);
  assert.match(zsh, /^#compdef cox\n/);
});

test('[CLI-1] each shell that is installed can read its script', async () => {
  using place = scratch();
  const read: Record<string, string> = { bash: '-n', zsh: '-n', fish: '--no-execute' };
  const installed: string[] = [];
  for (const [shell, flag] of Object.entries(read)) {
    if (!(process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, shell))))
      continue;
    installed.push(shell);
    const file = join(place.folder, `cox.${shell}`);
    writeFileSync(file, await script(place, shell));
    await run(shell, [flag, file]);
  }
  assert.ok(installed.includes('bash'));
});

test('[CLI-1] completion opens no store, and an unknown shell is refused', async () => {
  using place = scratch();
  const env = { COX_STORE: place.store };
  const { code, out } = await cox(['completion', 'bash'], { cwd: place.folder, env });
  assert.equal(code, 0);
  assert.match(out, /complete -o default -F _cox cox/);
  assert.ok(!existsSync(join(place.folder, 'store')));
  const wrong = await cox(['completion', 'tcsh', '--json'], { cwd: place.folder, env });
  assert.equal(wrong.code, 2);
});
