import { z } from 'zod';
import { limits } from '../../../kernel/limits.ts';
import { readDuration, showDuration } from '../../trust/profiles/index.ts';

/** Values arrive as the text that was written. Each of these converts it, or says what it expected. */

export function choice<const T extends readonly [string, ...string[]]>(words: T) {
  return z.enum(words, { error: `expected ${inWords(words)}` });
}

function inWords(words: readonly string[]): string {
  return words.length === 1 ? `${words[0]}` : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

export const flag = z
  .string({ error: 'expected true or false' })
  .regex(/^(?:true|false)$/i, 'expected true or false')
  .transform((text) => text.toLowerCase() === 'true');

export function whole(min: number, max: number) {
  return numeric(
    (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
    { min, max },
    `expected a whole number from ${min} to ${max}`,
  );
}

/** Milliseconds of `90`, `0.5` (seconds), `90s`, `2m`, `1h`, `1d`. */
export function time_ms(min: number) {
  const max = limits.board_time_ms_max;
  return numeric(
    (text) => {
      const seconds = /^\d{1,9}(?:\.\d{1,3})?$/.test(text) ? Number(text) : readDuration(text);
      return seconds === undefined ? undefined : Math.round(seconds * 1000);
    },
    { min, max },
    `expected seconds or a time such as 90s, 2m or 1h, ${min === 0 ? 'from 0' : 'more than 0'} up to ${showDuration(max / 1000)}`,
  );
}

/** A container gets at least a hundredth of a core. */
export const cpus = numeric(
  (text) => (/^\d{1,4}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined),
  { min: 0.01, max: 1024 },
  'expected a number of cores such as 0.5, from 0.01 to 1024',
);

const SIZE = /^(\d{1,12}(?:\.\d{1,9})?) ?([kmgt]?)i?b?$/i;

/**
 * Bytes of `512M`, `1.5g`, `2GB`: powers of 1024, as container tools read them. With less than 6M they start
 * nothing.
 */
export const memory_bytes = numeric(
  (text) => {
    const [, amount, unit = ''] = SIZE.exec(text) ?? [];
    const power = ['', 'k', 'm', 'g', 't'].indexOf(unit.toLowerCase());
    return amount === undefined ? undefined : Math.floor(Number(amount) * 1024 ** power);
  },
  { min: 6 * 1024 ** 2, max: 64 * 1024 ** 4 },
  'expected a size such as 512M or 2GB, from 6M to 64T',
);

function numeric(
  read: (text: string) => number | undefined,
  { min, max }: { min: number; max: number },
  reason: string,
) {
  return z
    .string({ error: reason })
    .transform((text) => read(text.trim()))
    .refine((value) => value !== undefined && value >= min && value <= max, reason)
    .transform(Number);
}

/** A text that can be passed to a process: in C, a NUL ends it. */
export function text(chars_max: number) {
  return z
    .string({ error: 'expected a text' })
    .max(chars_max, `expected at most ${chars_max} characters`)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'expected a text without NUL in it');
}

const words = z
  .array(text(20_000), { error: 'expected a list of words, such as [node, agent.js]' })
  .max(200, 'expected at most 200 words');

const PROGRAM = 'expected a program and its arguments, such as [node, agent.js]';

export const command = words.refine(([program = '']) => program.trim() !== '', PROGRAM);

/** An empty script counts as none. */
export const bidScript = words
  .refine(([program = 'none']) => program.trim() !== '', PROGRAM)
  .transform((given) => (given.length === 0 ? undefined : given));
