import { parseOptions } from '../../command-analysis/shell/program-options.ts';
import { globMatches } from '../../kernel/glob.ts';
import { type Category, PROJECT_WARNING } from '../trust/index.ts';
import type { GuardFindings } from './guard-findings.ts';
import type { Run } from './pattern.ts';

/** A pattern of a project's own, from its guardrails.yaml. */
export interface ProjectPattern {
  readonly id: string;
  /** The programs it applies to; patterns with `*`. */
  readonly programs: readonly string[];
  /** The first words that are no options, in this order; patterns with `*`. */
  readonly subcommand: readonly string[];
  /** Each list is one condition: at least one of its options must be there. */
  readonly options: readonly string[];
  /** At least one argument must match one of these. */
  readonly arguments: readonly string[];
  /** With one of these it is harmless. */
  readonly unless: readonly string[];
  readonly category: Category;
  readonly operation: string;
  readonly reason: string;
  readonly instead?: string | undefined;
  readonly action: 'block' | 'warn';
}

/** What a project adds. It can only make things stricter: there is no way to remove a pattern. */
export interface ProjectPatterns {
  readonly patterns: readonly ProjectPattern[];
  /** Excusing rules that are switched off here. */
  readonly off: readonly string[];
}

const matches = (patterns: readonly string[], text: string): boolean =>
  patterns.some(
    (pattern) => globMatches(pattern, text) || (!pattern.includes('/') && globMatches(`**/${pattern}`, text)),
  );

/** `-f` also matches in `-rf`; `--force` also as `--force=x`. */
function hasOption({ texts }: Run, option: string): boolean {
  if (/^-[A-Za-z]$/.test(option))
    return texts.some(
      (text) => /^-[A-Za-z]+/.test(text) && !text.startsWith('--') && text.includes(option.slice(1)),
    );
  return texts.some((text) => text === option || text.startsWith(`${option}=`));
}

function isMeant(run: Run, pattern: ProjectPattern): boolean {
  if (!matches(pattern.programs, run.name) && !matches(pattern.programs, run.command.program)) return false;
  const words = parseOptions(run.args).operands.map(({ text }) => text);
  if (!pattern.subcommand.every((word, index) => matches([word], words[index] ?? ''))) return false;
  if (pattern.options.length > 0 && !pattern.options.some((option) => hasOption(run, option))) return false;
  if (
    pattern.arguments.length > 0 &&
    !run.texts.some((text) => matches(pattern.arguments, text.replace(/^\.\//, '')))
  )
    return false;
  return !pattern.unless.some((option) => hasOption(run, option));
}

/** The prefix of a project's warnings, by which `isWarningOnly` and the verdict recognise them. */
const PROJECT = 'project:';

export function projectHits(run: Run, { patterns }: ProjectPatterns, found: GuardFindings): void {
  for (const pattern of patterns) {
    if (!isMeant(run, pattern)) continue;
    const id = `${pattern.action === 'warn' ? PROJECT_WARNING : PROJECT}${pattern.id}`;
    found.addPattern(id, { ...pattern, instead: pattern.instead ?? '' }, run.command);
  }
}
