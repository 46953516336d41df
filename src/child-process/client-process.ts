import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
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

/** The words that a process was started with; undefined where its system does not tell. */
export type ReadWords = (pid: number) => readonly string[] | undefined;

/** What stands between a client and the command it starts. */
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh', 'ash', 'busybox', 'env', 'timeout']);
const SHELLS_MAX = 4;

/** Our parent when this process began, where bin/cox says that it is a launcher: an old Node that started ours. */
let launcher: number | undefined;
let starter_pid: number | undefined;

/** From now on our parent is not taken for what started us, if it is a launcher indeed. */
export function skipLauncher(): void {
  launcher = process.ppid;
}

/**
 * The process that started this program. A launcher between is looked at and not believed: only a process that
 * runs the very script that we run is skipped, so no client can be made to be taken for its own parent.
 */
export function starter(): number {
  if (launcher === undefined) return process.ppid;
  starter_pid ??= parentOfLauncher(launcher, process.argv[1] ?? '');
  return starter_pid;
}

export function parentOfLauncher(
  pid: number,
  script: string,
  read: ReadProcess = readProcess,
  words: ReadWords = readWords,
): number {
  const [program = '', ...rest] = words(pid) ?? [];
  const runs = rest.find((word) => !word.startsWith('-'));
  const isLauncher =
    /(?:^|\/)node(?:js)?[\d.]*$/.test(program) && runs !== undefined && isSameFile(runs, script);
  return isLauncher ? (read(pid)?.parent ?? pid) : pid;
}

/** A launcher on the PATH is a link to the script, and its folder is ours. */
function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

/** The agent client that started us, directly or through shells. */
export function clientProcess(
  read: ReadProcess = readProcess,
  from = starter(),
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
  from = starter(),
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

export function readWords(pid: number): readonly string[] | undefined {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return undefined;
  }
  const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  return (stdout ?? '').trim().split(/\s+/);
}
