import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { isWindowsShare } from '../../src/stores/sqlite/file.ts';
import { isCode, readProject } from '../tidy/files.ts';
import { scratch } from '../transports/support.ts';

test('[STORE-6] without unix sockets and user numbers, as on Windows, nobody sits and everybody commits', async (t) => {
  const { getuid } = process;
  t.after(() => {
    process.getuid = getuid;
  });
  // Node has no such function there.
  process.getuid = undefined;
  using scratched = scratch();
  const coxswain = await open({ store: scratched.store, cwd: scratched.folder, sits: true });
  const acquire = operationsByName.get('acquire_lock');
  assert.ok(acquire !== undefined);
  for (const file_path of ['a.ts', 'b.ts', 'c.ts'])
    assert.equal((await coxswain.connect().perform(acquire, { file_path })).success, true);
  const { commits, seat } = await coxswain.store.describe();
  assert.deepEqual([commits, seat], ['directly', undefined]);
  await coxswain.close();
});

test('[STORE-6] a store on a Windows share is refused; drives and long paths are not', () => {
  for (const path of ['\\\\server\\share\\repo\\.git', '\\\\?\\UNC\\server\\share', '\\\\10.0.0.1\\c$\\x'])
    assert.ok(isWindowsShare(path), path);
  for (const path of [
    'C:\\repo\\.git',
    '\\\\?\\C:\\repo',
    '\\\\.\\C:\\repo',
    '/srv/repo',
    'c:/repo',
    '\\repo',
  ])
    assert.ok(!isWindowsShare(path), path);
});

/**
 * What only POSIX has, and what Windows gets instead. A file that is not here and uses one of these needs its own answer:
 * write it down here and, if it is a limit, in the README.
 */
const POSIX_ONLY: Record<string, string> = {
  'src/stores/sqlite/answered-mark.ts': 'no root makes files for others; the mark is the user’s own',
  'src/stores/sqlite/seat/seat-server.ts': 'no seat: every process commits by itself',
  'src/stores/sqlite/seat/seat.ts': 'Ctrl-Z of one that sits; nobody sits there',
  'src/transports/cli/demo/demo-story.ts':
    'the demo kills one of its agents; there any signal ends a process at once',
  'src/transports/cli/output/screen.ts': 'Ctrl-Z of the live view; there is no such key',
  'src/features/port-blocks/port-state.ts': 'whose folder it is; there the folder is as private as its ACL',
  'src/transports/cli/doctor/check-machine.ts':
    'who may read the store; there the folder is as private as its ACL',
  'src/transports/cli/doctor/check-shells.ts':
    'whether shells are protected; there they are not, and it says so',
  'src/transports/cli/init/launchers-in-use.ts': 'launchers of shells; init writes none there',
  'src/transports/cli/init/shell-launcher.ts': 'launchers of shells; init writes none there',
  'src/transports/run/shell-view.ts': 'a protected shell; there commands run as they are',
  'src/transports/cli/init/setup-diff.ts': '/dev/null as diff writes it; only shown',
  'src/child-process/client-process.ts':
    'a process by /proc, elsewhere by ps; without either by the conversation, and to approve takes a person’s key',
  'src/transports/git/git-hook-script.ts':
    'which git command runs a hook, by /proc or ps, as git for Windows brings them; without either picks go unchecked',
  'src/transports/run/run-child.ts': 'Ctrl-Z of a command under cox run; there is no such key',
  'src/transports/run/hooks-folder.ts':
    'git hooks that may be run; git for Windows brings its own sh and asks for no mode',
  'src/transports/shared/neighbours.ts': 'other agents in the same work tree; nobody is seen there',
  'src/kernel/quick-random.ts': 'the system’s generator as a file; else the usual one',
  'src/transports/cli/program/person.ts': 'a terminal of its own; there a person approves with a key',
  'src/features/promotion/operations/draft-diff.ts': '/dev/null as diff writes it; only shown',
  'src/storage/lasting.ts':
    'an asset keeps its mode; there a file has none but read-only, and is as private as its folder',
  'src/features/board/runner/process/wrapper.ts':
    'a shell around an agent’s command; there agents take part by themselves, over MCP or HTTP',
  'src/features/board/runner/container/launch.ts': 'the user in a container; containers need WSL there',
  'src/features/board/runner/machine-name.ts':
    'where a process number means something; there the host’s name says it',
  'src/child-process/plain-git.ts': '/dev/null as git for Windows knows it too: no hooks are run',
  'src/features/verification/runner/e2b.ts': 'paths within the sandbox, which runs Linux',
  'src/child-process/read-only-view.ts':
    'held files are not read-only under cox run; it says so and runs as before',
  'src/child-process/mount-list.ts': 'what is mounted for a protected command; there nothing is',
  'src/child-process/view-support.ts':
    'whether held files can be read-only; there they can not, and it says so',
  'src/child-process/marked.ts': 'children that left their group; there only the group is ended',
  'src/features/verification/runner/ntm.ts': 'tmux, which there is not: the run is left to another executor',
  'src/transports/cli/program/common.ts':
    'the name of an account without one; every Windows account has a name',
};

test('[STORE-6] every use of what only POSIX has is known, with what Windows does instead', () => {
  const posix =
    /\b(?:get[eu]?[ug]id|chmod|chown|mkfifo|SIGTSTP|SIGSTOP|SIGUSR[12])\b|\.sock\b|["'`]\/(?:proc|dev|tmp|etc)\//;
  // The policies read what a POSIX shell is told and do none of it; PowerShell is not read.
  const users = readProject().filter(
    (file) =>
      isCode(file) &&
      /^(src\/(?!command-analysis\/|features\/guardrails\/)|bin\/)/.test(file.path) &&
      posix.test(file.text),
  );
  assert.deepEqual(users.map(({ path }) => path).sort(), Object.keys(POSIX_ONLY).sort());
});

/** What Windows goes without, by words of the README's list of what is not done: a reader finds it there. */
const LIMITS: Record<string, RegExp> = {
  'src/stores/sqlite/seat/seat-server.ts': /On Windows each process commits for itself/,
  'src/features/port-blocks/port-state.ts': /the store is as private as its folder/,
  'src/transports/cli/doctor/check-machine.ts': /the store is as private as its folder/,
};

test('[STORE-6] what Windows goes without stands in the README', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  for (const [file, words] of Object.entries(LIMITS)) {
    assert.ok(file in POSIX_ONLY, file);
    assert.match(readme, words, file);
  }
  // A step that runs through a POSIX shell has no other way there.
  assert.match(readme, /through a POSIX shell; on Windows/);
  assert.match(readme, /mapped network drive is not recognised/);
});
