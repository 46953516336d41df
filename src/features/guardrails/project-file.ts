import { z } from 'zod';
import type { ShellPlace } from '../../command-analysis/shell/parameters.ts';
import { type FileProblem, readYaml } from '../../storage/yaml-file.ts';
import { CATEGORIES } from '../trust/index.ts';
import { assessCommand, isWarningOnly } from './assess.ts';
import { type ExcuseRule, excuse, RULES } from './excuse.ts';
import type { ProjectPattern, ProjectPatterns } from './project.ts';
import { PATTERNS } from './registry.ts';

/** A project's commands with their expected outcome. */
export interface ProjectTests {
  readonly blocks: readonly string[];
  readonly warns: readonly string[];
  readonly passes: readonly string[];
}

export type ParsedGuardrails =
  | { readonly ok: true; readonly project: ProjectPatterns; readonly tests: ProjectTests }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

const word = z.string().min(1).max(200);
const words = z.union([word.transform((one) => [one]), z.array(word).max(50)]);
const commands = z.array(z.string().min(1).max(4096)).max(500);
/** YAML 1.2 reads `off` as a text. */
const onOff = z.union([z.boolean(), z.enum(['on', 'off']).transform((text) => text === 'on')]);

function fileSchema(strict: boolean) {
  const object = (strict ? z.strictObject : z.object) as typeof z.strictObject;
  return object({
    patterns: z
      .array(
        object({
          id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'small letters, digits and dashes'),
          program: words,
          subcommand: words.optional(),
          options: words.optional(),
          arguments: words.optional(),
          unless: words.optional(),
          category: z.enum(CATEGORIES),
          operation: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'small letters, digits and underlines'),
          reason: z.string().min(1).max(500),
          instead: z.string().min(1).max(500).optional(),
          action: z.enum(['block', 'warn']).optional(),
        }),
      )
      .max(200)
      .optional(),
    rules: object(
      Object.fromEntries(RULES.map((rule) => [rule, onOff.optional()])) as Record<
        ExcuseRule,
        z.ZodOptional<typeof onOff>
      >,
    ).optional(),
    tests: object({ blocks: commands, warns: commands, passes: commands }).partial().optional(),
  });
}

const [file, looseFile] = [fileSchema(true), fileSchema(false)];

type PatternEntry = NonNullable<z.output<typeof file>['patterns']>[number];

function patternOf(entry: PatternEntry): ProjectPattern {
  const {
    program,
    subcommand = [],
    options = [],
    arguments: args = [],
    unless = [],
    action = 'block',
    ...rest
  } = entry;
  return { ...rest, programs: program, subcommand, options, arguments: args, unless, action };
}

/** A project's own patterns, or every mistake in them with its line. */
export function parseGuardrails(text: string): ParsedGuardrails {
  const { value, problems: found, problem } = readYaml(text, file, looseFile);
  if (value === undefined) return { ok: false, problems: found };
  const problems = [...found];
  const patterns = (value.patterns ?? []).map(patternOf);
  const ids = patterns.map(({ id }) => id);
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) !== index) problems.push(problem(['patterns', index, 'id'], `${id} is there twice`));
    if (PATTERNS.some((shipped) => shipped.id === id))
      problems.push(problem(['patterns', index, 'id'], `${id} ships with Coxswain and stays as it is`));
  }
  if (problems.length > 0) return { ok: false, problems };
  const off = RULES.filter((rule) => value.rules?.[rule] === false);
  const { blocks = [], warns = [], passes = [] } = value.tests ?? {};
  return { ok: true, project: { patterns, off }, tests: { blocks, warns, passes } };
}

type Outcome = keyof ProjectTests;

/** The outcome of a command from its words alone: no repository is asked. */
function outcomeOf(
  command: string,
  project: ProjectPatterns,
  place: ShellPlace,
): { outcome: Outcome; why: string } {
  const { findings } = excuse(assessCommand(command, place, project), place, undefined, project.off);
  const why = findings.map(({ pattern, reason }) => `${pattern}: ${reason}`).join(' ');
  if (findings.some((finding) => !isWarningOnly(finding))) return { outcome: 'blocks', why };
  return { outcome: findings.length > 0 ? 'warns' : 'passes', why };
}

/** The place that a project's tests assume. */
const SOMEWHERE: ShellPlace = { cwd: '/project', home: '/h', root: '/project' };

/** Every problem of the file: syntax errors, and each of its own tests that fails. */
export function checkGuardrailsFile(text: string, place: ShellPlace = SOMEWHERE): readonly FileProblem[] {
  const parsed = parseGuardrails(text);
  if (!parsed.ok) return parsed.problems;
  const { problem } = readYaml(text, file, looseFile);
  return (['blocks', 'warns', 'passes'] as const).flatMap((expected) =>
    parsed.tests[expected].flatMap((command, index) => {
      const { outcome, why } = outcomeOf(command, parsed.project, place);
      if (outcome === expected) return [];
      return [
        problem(
          ['tests', expected, index],
          `${SAID[outcome]}: ${JSON.stringify(command)}${why === '' ? '' : ` (${why})`}`,
        ),
      ];
    }),
  );
}

const SAID: Readonly<Record<Outcome, string>> = {
  blocks: 'is blocked',
  warns: 'is only warned about',
  passes: 'passes',
};
