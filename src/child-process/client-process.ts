import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fingerprint } from '../kernel/fingerprint.ts';
import type { Actor } from '../ledger/log.ts';

/** A process as its system describes it. `started` and the number together never come again while the machine is up. */
export interface ProcessFacts {
  readonly name: string;
  readonly parent: number;
  readonly started: string;
  /** It is only still listed: its parent has not asked how it ended. */
  readonly ended?: true;
}

export type ReadProcess = (pid: number) => ProcessFacts | undefined;

/** What stands between a client and the command it starts. */
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh', 'ash', 'busybox', 'env', 'timeout']);
const SHELLS_MAX = 4;

/** The agent client that started us, directly or through shells. */
export function clientProcess(
  read: ReadProcess = readProcess,
  from = process.ppid,
): (ProcessFacts & { pid: number }) | undefined {
  let pid = from;
  for (let hops = 0; hops <= SHELLS_MAX; hops += 1) {
    const facts = read(pid);
    if (facts === undefined || pid <= 1) return undefined;
    if (!SHELLS.has(facts.name.startsWith('-') ? facts.name.slice(1) : facts.name)) return { ...facts, pid };
    pid = facts.parent;
  }
  return undefined;
}

/**
 * The hooks and the MCP server of one running client are different processes with nothing in common but the client
 * itself: whose process it is makes them one agent. Resumed or cleared, it is still the same one.
 */
export function clientIdentity(
  client: string,
  read: ReadProcess = readProcess,
  from = process.ppid,
): Actor | undefined {
  const found = clientProcess(read, from);
  if (found === undefined) return undefined;
  const name = fingerprint(`${found.pid}\n${found.started}`);
  return { agent_id: `${client}-${name.slice(0, 6)}`, agent_type: client, session_id: `${client}-${name}` };
}

/** Has the process of these facts ended? One that only waits to be buried by its parent has. */
export function hasEnded(
  client: Pick<ProcessFacts, 'started'> & { pid: number },
  read: ReadProcess = readProcess,
): boolean {
  const now = read(client.pid);
  return now === undefined || now.started !== client.started || now.ended === true;
}

export function readProcess(pid: number): ProcessFacts | undefined {
  return process.platform === 'linux' ? readProc(pid) : readPs(pid);
}

function readProc(pid: number): ProcessFacts | undefined {
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The name stands in parentheses and may itself hold any of them. */
export function parseProcStat(text: string): ProcessFacts | undefined {
  const close = text.lastIndexOf(')');
  const name = text.slice(text.indexOf('(') + 1, close);
  const fields = text.slice(close + 2).split(' ');
  const [parent, started] = [Number(fields[1]), fields[19]];
  if (started === undefined || !(parent >= 0)) return undefined;
  return ['Z', 'X', 'x'].includes(fields[0] ?? '')
    ? { name, parent, started, ended: true }
    : { name, parent, started };
}

export function readPs(pid: number): ProcessFacts | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,lstart=,comm=', '-p', String(pid)], { encoding: 'utf8' });
  const found = /^\s*(\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.+?)\s*$/.exec(stdout ?? '');
  if (found === null) return undefined;
  const [, parent = '', started = '', name = ''] = found;
  return { name: name.slice(name.lastIndexOf('/') + 1), parent: Number(parent), started };
}
