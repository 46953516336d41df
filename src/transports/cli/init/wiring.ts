import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../kernel/json.ts';
import type { HookEvent } from '../../hooks/hook-call.ts';
import { nodeFlags } from '../../hooks/quick.ts';
import type { Client } from '../../shared/agent-clients.ts';
import type { LockPolicy } from '../../shared/enforcement-policy.ts';
import type { HookEvents } from './hook-parts.ts';

export const SCOPES = ['project', 'user'] as const;
export type Scope = (typeof SCOPES)[number];

/** The name of our MCP server in every client. */
export const SERVER = 'coxswain';

/**
 * The programs a client is told to start. Absolute paths: each client has its own PATH and working folder.
 */
export interface Programs {
  readonly node: string;
  readonly cox: string;
  readonly hook: string;
}

export interface Wiring {
  readonly programs: Programs;
  readonly locks: LockPolicy;
  readonly store?: string | undefined;
  /** The folder for what starts the clients' shell commands; undefined where the kernel can't protect files. */
  readonly shells?: string | undefined;
}

/** The package's own folder. Both the sources and the built files are four folders deep here. */
const PACKAGE = new URL('../../../../', import.meta.url);

export function ownPrograms(): Programs {
  const at = (path: string) => fileURLToPath(new URL(path, PACKAGE));
  return { node: process.execPath, cox: at('bin/cox'), hook: at('dist/hook.cjs') };
}

/** Builds the hook program. A published package contains it already built, and has no such script. */
export function hookBuilder(): string | undefined {
  const script = fileURLToPath(new URL('scripts/build-hook.ts', PACKAGE));
  return existsSync(script) ? script : undefined;
}

/** The sources of the hook program and of its build script; a published package has none of them. */
export function hookSources(): string[] {
  return ['src', 'scripts', 'package-lock.json'].map((name) => fileURLToPath(new URL(name, PACKAGE)));
}

/** Quotes a word for the shell that a client runs its hooks with. */
function quoted(word: string): string {
  return process.platform === 'win32' ? `"${word}"` : `"${word.replaceAll(/[\\"$`]/g, '\\$&')}"`;
}

function hookCommand({ programs, locks, store }: Wiring, client: Client, event: HookEvent): string {
  const program = [quoted(programs.node), ...nodeFlags(event), quoted(programs.hook)];
  const words = [...program, client, event, '--locks', locks];
  return [...words, ...(store === undefined ? [] : ['--store', quoted(store)])].join(' ');
}

/** A client's name for one of our events, its timeout in the client's unit, and the tools it applies to. */
export type EventRow = readonly [name: string, event: HookEvent, timeout: number, matcher?: string];

/** `extra`: further fields that a client wants in each hook. */
export function hooksFor(
  client: Client,
  events: readonly EventRow[],
  wiring: Wiring,
  extra: JsonObject = {},
): HookEvents {
  return Object.fromEntries(
    events.map(([name, event, timeout, matcher]) => {
      const hook = { ...extra, type: 'command', command: hookCommand(wiring, client, event), timeout };
      return [name, matcher === undefined ? { hooks: [hook] } : { matcher, hooks: [hook] }];
    }),
  );
}

export function serverCommand(
  { programs, store }: Wiring,
  client: Client,
): { command: string; args: string[] } {
  const args = [programs.cox, 'mcp', '--client', client];
  return { command: programs.node, args: store === undefined ? args : [...args, '--store', store] };
}

export function homeOf(env: NodeJS.ProcessEnv): string {
  return env.HOME || env.USERPROFILE || homedir();
}
