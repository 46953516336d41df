import {
  type ReadProcess,
  type ReadWords,
  readProcess,
  readWords,
} from '../../child-process/client-process.ts';

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
