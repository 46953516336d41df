import { z } from 'zod';
import { maskSecrets } from '../command-analysis/secrets.ts';
import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { labelProblem } from '../kernel/names.ts';
import { refuse } from '../kernel/refusal.ts';
import type { InputSchema } from './operation.ts';

/** Text that can be stored and shown everywhere: no NUL (PostgreSQL has none), no unpaired surrogate (UTF-8 has none). */
export function text(max: number, description: string) {
  return z
    .string()
    .max(max, `at most ${max} characters`)
    .refine((value) => !value.includes('\0'), 'no NUL characters')
    .refine((value) => value.isWellFormed(), 'no unpaired surrogates')
    .describe(description);
}

export function someText(max: number, description: string) {
  return text(max, description).min(1, 'at least one character');
}

/** What agents write for other agents and people to read: a credential in it is masked before anything is kept. */
export function prose(max: number, description: string) {
  return text(max, description).overwrite(maskSecrets);
}

export function someProse(max: number, description: string) {
  return someText(max, description).overwrite(maskSecrets);
}

/** The name of an agent or a thing: other agents see it, and keys contain it. */
export function name(description: string, max: number = limits.agent_id_chars_max) {
  return someText(max, description).refine((value) => labelProblem(value, max) === undefined, {
    error: ({ input }) => labelProblem(input, max),
  });
}

/** A path is checked by its own rules (`kernel/path.ts`); here only its type and a bound. */
export function path(description: string) {
  return z
    .string()
    .min(1, 'a path inside the repository')
    .max(4096, 'at most 4096 characters')
    .describe(description);
}

export function payload(description: string) {
  return z
    .unknown()
    .superRefine((value, context) => {
      const problem = value === undefined ? undefined : payloadProblem(value);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .optional()
    .describe(description);
}

function payloadProblem(value: unknown): string | undefined {
  if (!isPlainJson(value, 0)) return 'plain JSON, without NUL or unpaired surrogates, up to 32 levels deep';
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > limits.task_payload_bytes_max
    ? `at most ${limits.task_payload_bytes_max} bytes of JSON`
    : undefined;
}

function isPlainJson(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || depth >= limits.json_depth_max) return false;
  if (Array.isArray(value)) return value.every((item) => isPlainJson(item, depth + 1));
  // A Date or a Map from a program would be stored as something else than it was.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return false;
  // `__proto__` would be dropped or, worse, obeyed by the next reader.
  return Object.entries(value).every(
    ([name, inner]) => name !== '__proto__' && isPlainJson(name, depth) && isPlainJson(inner, depth + 1),
  );
}

export const fields = {
  operation_id: someText(
    limits.operation_id_chars_max,
    'Any unique text. Repeating a call with the same id returns the first answer instead of doing it twice.',
  ).optional(),
  fencing_token: z
    .int()
    .positive()
    .max(Number.MAX_SAFE_INTEGER)
    .describe('The grant you mean; default: your own.')
    .optional(),
  task_id: z
    .guid('a task id as submit_work returns it')
    .describe('The id that submit_work or get_work returned.'),
  minutes: (what: string, standard: number) =>
    z
      .number()
      .min(limits.ttl_minutes_min, `between ${limits.ttl_minutes_min} and ${limits.ttl_minutes_max} minutes`)
      .max(limits.ttl_minutes_max, `between ${limits.ttl_minutes_min} and ${limits.ttl_minutes_max} minutes`)
      .default(standard)
      .describe(what),
  wait_seconds: z
    .number()
    .min(0)
    .max(limits.wait_seconds_max)
    .describe('Wait in line so long instead of being refused; first come, first served.')
    .optional(),
  priority: z.int().min(1).max(10).describe('1 (most urgent) to 10'),
};

/**
 * From a zod object to what the coordinator asks for: the value, or a refusal that names the field and what would do.
 * `other_names`: what clients of other coordinators call a field.
 */
export function inputSchema<S extends z.ZodObject>(
  shape: S,
  other_names: Readonly<Record<string, keyof S['shape'] & string>> = {},
): InputSchema<z.output<S>, z.input<S>> {
  const accepted = Object.keys(shape.shape);
  const others = Object.entries(other_names);
  return {
    json: z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' }) as JsonObject,
    parse(input) {
      try {
        const parsed = shape.safeParse(renamed(input ?? {}, others));
        if (parsed.success) return { ok: true, value: parsed.data };
        return { ok: false, refusal: describeIssue(parsed.error.issues[0], accepted) };
      } catch {
        // A program may pass an object that throws when it is looked at.
        return { ok: false, refusal: invalid('input', 'a plain object') };
      }
    },
  };
}

/** A field that is given under both names is left to the schema, which refuses the one it doesn't know. */
function renamed(input: unknown, others: readonly (readonly [string, string])[]): unknown {
  if (others.length === 0 || typeof input !== 'object' || input === null) return input;
  const named = { ...input } as JsonObject;
  for (const [other, field] of others)
    if (Object.hasOwn(named, other) && !Object.hasOwn(named, field)) {
      named[field] = named[other];
      delete named[other];
    }
  return named;
}

function describeIssue(issue: z.core.$ZodIssue | undefined, accepted: readonly string[]) {
  if (issue === undefined) return invalid('input', 'a plain object');
  const place = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const known = place.length === 0 ? `one of ${accepted.join(', ')}` : 'only the fields in the description';
    return invalid([...place, issue.keys[0] ?? ''].join('.'), known, 'unknown field; ');
  }
  return invalid(place.join('.') || 'input', wantedBy(issue.message));
}

/** Where a declaration has no words of its own, zod's say what is wrong with the value first; behind "expected" stands what would do. */
function wantedBy(said: string): string {
  if (said === 'Invalid ISO datetime') return 'an ISO time such as 2026-03-01T12:00:00Z';
  return said
    .replace(/^(?:Invalid (?:input|option)|Too (?:small|big)): expected /, '')
    .replace(/^Invalid (string|number): must /, '$1 to ')
    .replace(/^Invalid /, 'a valid ');
}

function invalid(field: string, expected: string, prefix = '') {
  const named = shown(field) || '(empty)';
  const wanted = shown(expected);
  return refuse('invalid_input', `${named}: ${prefix}expected ${wanted}`, { field: named, expected: wanted });
}

/** What came from outside is shown short and without anything a terminal or a log would obey. */
function shown(value: string): string {
  return value
    .slice(0, 200)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
}
