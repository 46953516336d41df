import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint } from '../../kernel/fingerprint.ts';
import { stateFolder } from '../../storage/state-folder.ts';
import type { HookCall } from './hook-call.ts';
import { STARTED } from './left-behind.ts';

/** A work tree that git took too long to compare is left alone for so long. */
const SLOW_MS = 10 * 60_000;

export interface CommandStart {
  /** By the clock that stamps the files which the command writes. */
  readonly at_ns: bigint;
  /** Where it began to run. */
  readonly cwd: string;
}

/**
 * One file for each command under way, on this machine: its content is where the command runs, and its own time is when. If it can't
 * be written, what the command changes goes unnoticed.
 */
function noteOf({ conversation, use, tool, input }: HookCall, env: NodeJS.ProcessEnv): string | undefined {
  const { AGENT_ID = '', SESSION_ID = '' } = env;
  return fileIn(env, [AGENT_ID, SESSION_ID, conversation, use, tool, JSON.stringify(input)]);
}

function fileIn(env: NodeJS.ProcessEnv, parts: readonly string[]): string | undefined {
  const state = stateFolder(env);
  return typeof state === 'string' ? join(state, STARTED, fingerprint(parts.join('\n'))) : undefined;
}

function put(file: string | undefined, text: string): void {
  if (file === undefined) return;
  try {
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    // A folder that can't be written to stops no agent.
  }
}

export function noteStart(call: HookCall, env: NodeJS.ProcessEnv, cwd: string): void {
  put(noteOf(call, env), cwd);
}

/** Once for each command. */
export function takeStart(call: HookCall, env: NodeJS.ProcessEnv): CommandStart | undefined {
  const note = noteOf(call, env);
  if (note === undefined) return undefined;
  try {
    const start = { at_ns: statSync(note, { bigint: true }).mtimeNs, cwd: readFileSync(note, 'utf8') };
    rmSync(note, { force: true });
    return start;
  } catch {
    return undefined;
  }
}

export function noteSlow(root: string, env: NodeJS.ProcessEnv): void {
  put(fileIn(env, ['slow', root]), root);
}

export function isSlow(root: string, env: NodeJS.ProcessEnv, now_ms: number): boolean {
  const file = fileIn(env, ['slow', root]);
  const found = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return found !== undefined && now_ms - found.mtimeMs < SLOW_MS;
}
