import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type ReadProcess, readProcess } from '../../child-process/client-process.ts';

/** Programs that are agents' clients, by the name of the process or of the script that an interpreter runs. */
const AGENTS = new Set([
  'claude',
  'codex',
  'gemini',
  'aider',
  'cursor-agent',
  'opencode',
  'goose',
  'amp',
  'copilot',
  'crush',
  'qwen',
]);
const ANCESTORS_MAX = 64;

/** The words that a process was started with; undefined where its system does not tell. */
export type ReadWords = (pid: number) => readonly string[] | undefined;

export interface Machine {
  readonly read: ReadProcess;
  readonly words: ReadWords;
  /** Where to begin. */
  readonly from: number;
}

export const thisMachine = (): Machine => ({ read: readProcess, words: readWords, from: process.ppid });

/**
 * The agent below which this process runs: by the name of any ancestor, or by what it was started with. `unknown` where the
 * chain can't be followed to its beginning. A process can hide from this on purpose; see docs/guardrails.md.
 */
export function agentAbove({ read, words, from }: Machine = thisMachine()): string | undefined {
  let pid = from;
  for (let hops = 0; hops < ANCESTORS_MAX; hops += 1) {
    if (pid <= 1) return undefined;
    const facts = read(pid);
    if (facts === undefined) return 'unknown';
    const started = words(pid) ?? [];
    const agent = [facts.name, ...started.slice(0, 3)].map(programName).find((name) => AGENTS.has(name));
    if (agent !== undefined) return agent;
    if (isCoxRun(started)) return 'cox run';
    pid = facts.parent;
  }
  return 'unknown';
}

function programName(word: string): string {
  return word
    .slice(word.lastIndexOf('/') + 1)
    .replace(/^-/, '')
    .replace(/\.(?:[cm]?js|py|exe)$/, '')
    .toLowerCase();
}

function isCoxRun(words: readonly string[]): boolean {
  const cox = words.findIndex((word) => programName(word) === 'cox');
  return cox !== -1 && cox <= 1 && words.slice(cox + 1).includes('run');
}

function readWords(pid: number): readonly string[] | undefined {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return undefined;
  }
  const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  return (stdout ?? '').trim().split(/\s+/);
}
