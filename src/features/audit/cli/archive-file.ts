import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { JsonObject } from '../../../kernel/json.ts';
import { StoreFailure } from '../../../kernel/refusal.ts';
import type { LogEntry } from '../../../ledger/log.ts';

/**
 * One JSON object per line: first a header, then the rows as in the log, last the number of rows and the
 * SHA-256 of every byte before that line. Plain text, so that it can be read without Coxswain.
 */
const FORMAT = 'coxswain-archive-1';

export interface ArchiveFile {
  readonly project: string;
  readonly rows: number;
  readonly sha256: string;
}

/**
 * Written beside its final place and moved there only when it is complete and on disk; never over another
 * file.
 */
export class ArchiveWriter {
  readonly #path: string;
  readonly #partial: string;
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  rows = 0;

  private constructor(path: string, partial: string, file: FileHandle) {
    this.#path = path;
    this.#partial = partial;
    this.#file = file;
  }

  static async create(path: string, about: JsonObject): Promise<ArchiveWriter> {
    if (existsSync(path)) throw unusable(path, 'there is a file already; an archive is never written over');
    const partial = `${path}.${process.pid}.partial`;
    const writer = new ArchiveWriter(path, partial, await open(partial, 'w', 0o600));
    await writer.#line({ format: FORMAT, ...about });
    return writer;
  }

  async add(entries: readonly LogEntry[]): Promise<void> {
    for (const entry of entries) await this.#line(entry);
    this.rows += entries.length;
  }

  async finish(): Promise<void> {
    const end = { rows: this.rows, sha256: this.#hash.digest('hex') };
    await this.#file.write(`${JSON.stringify(end)}\n`);
    await this.#file.sync();
    await this.#file.close();
    // Not rename: that would replace a file created there meanwhile.
    await link(this.#partial, this.#path);
    await rm(this.#partial);
    const folder = await open(dirname(this.#path), 'r');
    await folder.sync();
    await folder.close();
  }

  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(this.#partial, { force: true });
  }

  async #line(value: object): Promise<void> {
    const line = `${JSON.stringify(value)}\n`;
    this.#hash.update(line);
    await this.#file.write(line);
  }
}

/** Reads all of it once: nothing is taken from an incomplete archive. */
export async function checkArchive(path: string, project: string): Promise<ArchiveFile> {
  const hash = createHash('sha256');
  let before: string | undefined;
  let lines = 0;
  let about: JsonObject = {};
  for await (const line of linesOf(path)) {
    if (before !== undefined) hash.update(`${before}\n`);
    else about = parsed(line, path);
    before = line;
    lines += 1;
  }
  if (about.format !== FORMAT) throw unusable(path, 'this is no archive of Coxswain');
  if (about.project !== project) throw unusable(path, `it is of project ${JSON.stringify(about.project)}`);
  const end = parsed(before ?? '', path);
  const sha256 = hash.digest('hex');
  const rows = lines - 2;
  if (end.sha256 !== sha256 || end.rows !== rows) throw unusable(path, 'it is damaged or incomplete');
  return { project, rows, sha256 };
}

export async function* archivedRows(path: string): AsyncIterable<LogEntry> {
  for await (const line of linesOf(path)) {
    const value = parsed(line, path);
    if (typeof value.position === 'number') yield value as unknown as LogEntry;
  }
}

async function* linesOf(path: string): AsyncIterable<string> {
  const input = createReadStream(path, 'utf8');
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    throw unusable(path, (error as Error).message);
  } finally {
    input.destroy();
  }
}

function parsed(line: string, path: string): JsonObject {
  try {
    return JSON.parse(line) as JsonObject;
  } catch {
    throw unusable(path, 'it is damaged or incomplete');
  }
}

function unusable(path: string, why: string): StoreFailure {
  return new StoreFailure('invalid_input', `${path}: ${why}.`, { details: { field: 'archive' } });
}
