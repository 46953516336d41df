import { spawnSync } from 'node:child_process';
import { starter } from '../../child-process/client-process.ts';
import type { HookEvent } from './hook-call.ts';

/**
 * Node seeds its string hash table with a random secret at start, so that an attacker can't choose names that
 * all collide. Creating the secret and rehashing takes a sixth of a bare start. A hook that decides about one
 * tool call does without: it sees few names (`QUICK_BYTES_MAX`), and longer input goes on in a process that
 * has the secret. Only before a tool: the other hooks get what tools have read, which is often long and comes
 * from anywhere.
 */
export const QUICK = '--no-rehash-snapshot';

/**
 * Colliding names are compared each with each. For the few thousand that fit in this size, that does not
 * matter.
 */
export const QUICK_BYTES_MAX = 64 * 1024;

/** Set by a hook that has handed on its call: the hook's parent, which identifies the client. */
const PARENT = 'COX_HOOK_PARENT';

/** The Node flags for a hook of this event. */
export function nodeFlags(event: HookEvent): string[] {
  return event === 'before-tool' ? [QUICK] : [];
}

export function isQuick(): boolean {
  return process.execArgv.includes(QUICK);
}

/** Runs the same hook in a process without the quick flag. Returns its exit code. */
export function handOn(payload: Buffer): number {
  const { status } = spawnSync(process.execPath, process.argv.slice(1), {
    input: payload,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, [PARENT]: String(starter()) },
  });
  // However it ended, that is no reason to stop the agent.
  return status ?? 0;
}

/** The process that started the hook. */
export function startedBy(env: NodeJS.ProcessEnv): number {
  return Number(env[PARENT]) || starter();
}
