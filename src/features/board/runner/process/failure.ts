import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { legible } from '../../../../child-process/legible.ts';
import { limits } from '../../../../kernel/limits.ts';
import type { Delivery } from '../execution-port.ts';
import type { RunFiles } from './run-files.ts';

const { agent_failure_chars_max: CHARS_MAX } = limits;
/** The cause is at the end of the output more often than at its beginning. */
const HEAD_CHARS = 1_500;
/** How much of each end is read. Secrets must be complete to be masked, although little is shown. */
const END_BYTES = 64 * 1024;
/** Shorter values would also mask text that is not secret. */
const SECRET_CHARS_MIN = 8;
const SECRET_NAME = /key|token|secret|passw|credential|auth/i;

export interface Mishap {
  /** One sentence. */
  readonly reason: string;
  readonly exit_code?: number | null;
  /** Further details. */
  readonly error?: string;
}

/** The secrets that an agent was given by name. Some agents print their environment. */
export function secretsIn(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment)
    .filter(([name, value]) => SECRET_NAME.test(name) && value.length >= SECRET_CHARS_MIN)
    .map(([, value]) => value);
}

/** A failure with the beginning and the end of the output, safe to be stored and shown. */
export function runFailed(
  { reason, exit_code = null, error = '' }: Mishap,
  run: RunFiles | undefined,
  secrets: readonly string[] = [],
): Delivery & { ok: false } {
  const shown = (text: string) => shortened(legible(without(secrets, text)));
  const [stdout = '', stderr = ''] = ['stdout', 'stderr'].map((name) =>
    run === undefined ? '' : shown(bothEnds(run.path(name))),
  );
  return {
    ok: false,
    failure: { reason: shown(reason), exit_code, stdout, stderr, error: shown(error) },
  };
}

function without(secrets: readonly string[], text: string): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
}

function shortened(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length <= CHARS_MAX) return whole;
  const gap = '\n… left out …\n';
  const tail_chars = CHARS_MAX - HEAD_CHARS - gap.length;
  return `${whole.slice(0, HEAD_CHARS)}${gap}${whole.slice(-tail_chars)}`.toWellFormed();
}

function bothEnds(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(descriptor);
    if (size <= 2 * END_BYTES) return part(descriptor, 0, size);
    return `${part(descriptor, 0, END_BYTES)}\n${part(descriptor, size - END_BYTES, END_BYTES)}`;
  } finally {
    closeSync(descriptor);
  }
}

function part(descriptor: number, from: number, bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, bytes, from));
}
