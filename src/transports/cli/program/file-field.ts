import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { AnyOperation } from '../../../runtime/operation.ts';
import type { Terminal } from '../output/terminal.ts';

/**
 * More than any operation accepts. A text that is slightly too long is refused in the operation's own words.
 */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

/** On the command line the user names a file, and its text is the value. Returns why it could not be read. */
export async function fillFromFile(
  { file: field }: AnyOperation,
  input: JsonObject,
  { cwd }: Terminal,
): Promise<Refusal | undefined> {
  const named = field === undefined ? undefined : input[field];
  if (field === undefined || typeof named !== 'string') return undefined;
  try {
    const path = resolve(cwd, named);
    const { size } = await stat(path);
    if (size > FILE_BYTES_MAX) return invalid(field, `a file of at most ${FILE_BYTES_MAX} bytes`);
    input[field] = await readFile(path, 'utf8');
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return invalid(field, `a file that can be read (${code ?? 'unreadable'})`);
  }
}
