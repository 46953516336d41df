import { assessCommand } from '../../../../src/features/guardrails/assess.ts';
import { CATEGORIES } from '../../../../src/features/trust/finding.ts';
import { readCorpus } from './corpus.ts';
import { generated } from './generate.ts';

/** Whatever is asked, an answer comes within this much processor time, and is well formed. */
export const CPU_MS_MAX = 1000;
const TEXT_CHARS_MAX = 2000;
const PLACE = { cwd: '/repo', home: '/h', root: '/repo' };

export interface Slow {
  readonly index: number;
  readonly took_ms: number;
}

const corpus = [...readCorpus('destructive'), ...readCorpus('legitimate')];

export function commandOf(seed: number, index: number): string {
  return generated(seed, index, corpus);
}

/** What is wrong about an answer. */
function complaints(command: string): string[] {
  const { findings } = assessCommand(command, PLACE);
  return findings.flatMap(({ category, operation, pattern, matched, reason }) => {
    const wrong: string[] = [];
    if (!CATEGORIES.includes(category)) wrong.push(`category ${category}`);
    if (!/^[a-z][a-z_\d]*$/.test(operation)) wrong.push(`operation ${operation}`);
    if (pattern === '' || reason === '') wrong.push('no pattern or reason');
    if (matched.length > TEXT_CHARS_MAX) wrong.push(`matched has ${matched.length} characters`);
    return wrong;
  });
}

function cpu_ms(run: () => void): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

export interface Checked {
  readonly took_ms: number;
  readonly wrong: readonly string[];
}

/** Asked again where it was slow: a garbage collection of the others' rubbish is not its fault. */
export function check(seed: number, index: number, slow_ms: number): Checked {
  const command = commandOf(seed, index);
  let wrong: readonly string[] = [];
  const ask = (): void => {
    try {
      wrong = complaints(command);
    } catch (error) {
      wrong = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
    }
  };
  let took_ms = cpu_ms(ask);
  for (let again = 0; again < 2 && took_ms > slow_ms; again += 1) took_ms = Math.min(took_ms, cpu_ms(ask));
  return { took_ms, wrong };
}
