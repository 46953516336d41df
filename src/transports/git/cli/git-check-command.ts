import { EXIT_CODES, refusalOf, verdictOf } from '../../../runtime/answer.ts';
import type { Terminal } from '../../cli/output/terminal.ts';
import { plain } from '../../cli/output/text.ts';
import { cliIdentity, placeOf } from '../../cli/program/common.ts';
import { describeHeld } from '../../shared/held-by-others.ts';
import { pushedFiles, rebasedFiles, stagedFiles } from '../git-changes.ts';
import { type Conflict, findConflict } from '../git-check.ts';
import type { ToldHook } from '../git-hook-script.ts';
import { isPick, ontoOfRebase } from '../git-pick.ts';
import type { GitOptions } from './git-install-command.ts';

type What = 'commit' | 'push' | 'rebase';

export interface CommitOptions extends GitOptions {
  /** The hook that asks; undefined for those that need no special treatment. */
  readonly hook?: ToldHook;
}

/** Returns the exit code of the hook: 0 lets the commit through. */
export async function checkCommit(options: CommitOptions, terminal: Terminal): Promise<number> {
  const { hook } = options;
  if (hook === 'prepare-commit-msg' && !isPick()) return 0;
  return await check('commit', options, terminal, () =>
    stagedFiles({ cwd: terminal.cwd, env: terminal.env }, hook === 'pre-merge-commit'),
  );
}

export async function checkPush(remote: string, options: GitOptions, terminal: Terminal): Promise<number> {
  const lines = await readAll(process.stdin);
  return await check('push', options, terminal, () =>
    pushedFiles(remote, lines, { cwd: terminal.cwd, env: terminal.env }),
  );
}

export async function checkRebase(
  upstream: string,
  branch: string | undefined,
  options: GitOptions,
  terminal: Terminal,
): Promise<number> {
  const plan = { upstream, onto: ontoOfRebase(), branch: branch === '' ? undefined : branch };
  return await check('rebase', options, terminal, () =>
    rebasedFiles(plan, { cwd: terminal.cwd, env: terminal.env }),
  );
}

async function check(
  what: What,
  options: GitOptions,
  terminal: Terminal,
  changed: () => Promise<readonly string[]>,
): Promise<number> {
  const who = cliIdentity(options, terminal.env);
  if (!who.ok) return await unchecked(what, String(who.refusal.message), 2, options, terminal);
  const chosen = placeOf(options, terminal);
  if (!chosen.ok) return await unchecked(what, String(chosen.refusal.message), 2, options, terminal);
  try {
    const found = await findConflict(chosen.place, who.actor, changed);
    return found === undefined ? 0 : await complain(what, found, options, terminal);
  } catch (error) {
    const failed = refusalOf(error);
    const code = EXIT_CODES[verdictOf(failed)];
    return await unchecked(what, String(failed.message), code, options, terminal);
  }
}

/** A commit is not an edit: if it can't be checked it is let through, unless locks were required. */
async function unchecked(
  what: What,
  why: string,
  code: number,
  { locks, json }: GitOptions,
  terminal: Terminal,
): Promise<number> {
  const blocks = locks === 'require';
  if (json === true) await terminal.out(`${JSON.stringify({ success: false, blocks, message: why })}\n`);
  const done = blocks ? `the ${what} is held back, as locks are required here` : `the ${what} goes on`;
  await terminal.err(`coxswain: locks could not be checked, ${done}: ${plain(why)}\n`);
  return blocks ? code : 0;
}

async function complain(
  what: What,
  { held, committer, now_ms }: Conflict,
  { locks, json }: GitOptions,
  terminal: Terminal,
): Promise<number> {
  const blocks = locks !== 'warn';
  if (json === true) {
    const answer = { success: false, action: 'blocked', blocks, agent_id: committer.agent_id, held };
    await terminal.out(`${JSON.stringify(answer)}\n`);
  }
  const shown = held.map((file) => ({ ...file, path: plain(file.path) }));
  const lines = describeHeld(shown, now_ms)
    .split('\n')
    .map((line) => `  ${plain(line)}`);
  const head = `coxswain: this ${what} changes what ${blocks ? 'others hold' : 'others hold, and goes on'}:`;
  const advice = blocks ? adviceFor(what, held[0]?.held_by ?? '', committer.isAgent) : [];
  await terminal.err(`${[head, ...lines, ...advice].join('\n')}\n`);
  return blocks ? EXIT_CODES.refused : 0;
}

/** An agent is not told how to bypass the check; a person decides for themselves. */
function adviceFor(what: What, holder: string, isAgent: boolean): string[] {
  const leaveOut = 'git restore --staged FILE leaves one out of this commit';
  const lines = [
    ...(what === 'commit' ? [leaveOut] : []),
    'cox lock acquire FILE --wait-seconds 600 waits until it is free',
    `cox mail send "may I commit FILE?" --to ${plain(holder)} asks`,
  ];
  if (!isAgent) lines.push(`git ${what} --no-verify (or COX_GIT=off) goes past this check, on your own word`);
  return ['What to do:', ...lines.map((line) => `  ${line}`)];
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  if (stream.isTTY) return '';
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += chunk;
  return text;
}
