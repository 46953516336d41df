import { spawnSync } from 'node:child_process';
import type { HookEvent } from './hook-call.ts';

/**
 * Node starts with a table of names under a secret of its own, so that nobody can choose names that all fall on one place of it. To
 * make that secret, and the table anew, takes a sixth of a bare start. A hook that decides about one tool call does without: its
 * names are few (`QUICK_BYTES_MAX`), and what is longer goes on in a process that has such a secret. Only before a tool: the other
 * hooks hear what tools have read, often long and from anywhere.
 */
export const QUICK = '--no-rehash-snapshot';

/** Names that all fall on one place are compared each with each: no matter for the few thousand that find room in this. */
export const QUICK_BYTES_MAX = 64 * 1024;

/** Set by a hook that has handed on its call: whose child it is, which says what client that is. */
const PARENT = 'COX_HOOK_PARENT';

/** What Node is told when it is started for this event. */
export function nodeFlags(event: HookEvent): string[] {
  return event === 'before-tool' ? [QUICK] : [];
}

export function isQuick(): boolean {
  return process.execArgv.includes(QUICK);
}

/** The same hook in a process of its own that is in no such hurry. Answers its exit code. */
export function handOn(payload: Buffer): number {
  const { status } = spawnSync(process.execPath, process.argv.slice(1), {
    input: payload,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, [PARENT]: String(process.ppid) },
  });
  // Whatever became of it is no reason to stop the agent.
  return status ?? 0;
}

/** The process that has started the hook. */
export function startedBy(env: NodeJS.ProcessEnv): number {
  return Number(env[PARENT]) || process.ppid;
}
