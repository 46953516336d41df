import { z } from 'zod';
import type { BoardFileFindings } from './board-file-findings.ts';
import { text } from './fields.ts';

/** A variable of an agent's environment, as written in the file. */
export interface Variable {
  /** Its position: an index of the list, or a key of the map. */
  readonly at: PropertyKey;
  readonly name: string;
  /** Undefined: passed on from the environment of the process that starts the agents. */
  readonly value: string | undefined;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
const VARIABLES_MAX = 200;

const value = text(30_000);

interface Wrong {
  readonly path: PropertyKey[];
  readonly message: string;
}

/**
 * `[A=1, B]` or `{A: 1, B: }`, as in files for Docker Compose; B is passed on. Not `strict`: as much of it as
 * can be read.
 */
export function environment(strict: boolean) {
  return z.unknown().transform((given, context): readonly Variable[] => {
    const wrong: Wrong[] = [];
    const variables = pairsOf(given, wrong).flatMap(([at, name, written]): Variable[] => {
      const read = value.nullable().safeParse(written);
      if (!read.success)
        wrong.push({ path: [at], message: read.error.issues[0]?.message ?? 'expected a text' });
      else if (!NAME.test(name))
        wrong.push({ path: [at], message: 'expected NAME=value, or NAME to hand it on' });
      else return [{ at, name, value: read.data ?? undefined }];
      return [];
    });
    if (strict) for (const each of wrong) context.addIssue({ code: 'custom', ...each });
    return variables;
  });
}

function pairsOf(given: unknown, wrong: Wrong[]): [at: PropertyKey, name: string, value: unknown][] {
  if (typeof given !== 'object' || given === null) {
    wrong.push({ path: [], message: 'expected a list of NAME=value, or a map' });
    return [];
  }
  const entries = Array.isArray(given) ? [...given.entries()] : Object.entries(given);
  if (entries.length > VARIABLES_MAX)
    wrong.push({ path: [], message: `expected at most ${VARIABLES_MAX} variables` });
  return entries.slice(0, VARIABLES_MAX).map(([at, each]) => {
    if (typeof at === 'string') return [at, at, each];
    // If it is not a text, the complaint is about its value.
    if (typeof each !== 'string') return [at, '', each ?? undefined];
    const cut = each.indexOf('=');
    return cut === -1 ? [at, each, null] : [at, each.slice(0, cut), each.slice(cut + 1)];
  });
}

/** `process.env`, or a substitute for it. */
export type Surroundings = Readonly<Record<string, string | undefined>>;

/** The variables with their values. If a name appears twice, the later one counts. */
export function resolveEnvironment(
  variables: readonly Variable[],
  path: readonly PropertyKey[],
  around: Surroundings,
  findings: BoardFileFindings,
): Record<string, string> {
  const resolved = variables.flatMap(({ at, name, value }): [string, string][] => {
    if (value !== undefined) return [[name, expand(value, [...path, at], around, findings)]];
    const handedOn = setTo(around, name);
    if (handedOn === undefined)
      findings.warn([...path, at], `${name} is not set here: the agent is started without it`);
    return handedOn === undefined ? [] : [[name, handedOn]];
  });
  return Object.fromEntries(resolved);
}

/**
 * `${NAME}` is a variable of the process that starts the agents. It is expanded only in values, and only
 * after the file was parsed: the contents of a variable are never taken for a part of the file.
 */
export function expand(
  text: string,
  path: readonly PropertyKey[],
  around: Surroundings,
  findings: BoardFileFindings,
): string {
  return text.replace(/\$\{([A-Za-z0-9_]+)\}/g, (written, name: string) => {
    const found = setTo(around, name);
    if (found === undefined) findings.complain(path, `the variable ${name} is not set`);
    return found ?? written;
  });
}

function setTo(around: Surroundings, name: string): string | undefined {
  return Object.hasOwn(around, name) ? around[name] : undefined;
}
