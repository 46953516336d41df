import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { sha256 } from '../../../kernel/hash.ts';
import type { Client } from '../../shared/agent-clients.ts';
import { type FileChange, linkTarget, modeOf, readBytes, sameBytes } from './changes.ts';
import type { Manifest, WrittenFile } from './manifest.ts';
import { isEmpty, mergedParts, type Part, withoutPart, withPart } from './setup-parts.ts';
import { Unusable } from './unusable.ts';

/** A file that is to contain our parts. */
export interface WantedFile {
  readonly path: string;
  readonly client?: Client | undefined;
  readonly parts: readonly Part[];
  readonly mode?: number | undefined;
  /**
   * It contains paths of this machine, so existing content can't come from a `cox init` on another machine.
   */
  readonly own?: boolean;
}

export interface Plan {
  /** Only the files that differ. */
  readonly changes: readonly FileChange[];
  /** To be saved, with all files that are ours, changed now or earlier. */
  readonly manifest: Manifest;
}

/** What the files will be, and what is needed to undo that. Reads only; writes nothing. */
export function planFiles(root: string, wanted: readonly WantedFile[], known: Manifest | undefined): Plan {
  const files = new Map((known?.files ?? []).map((file) => [file.path, file]));
  const folders = new Set(known?.folders ?? []);
  const changes: FileChange[] = [];
  for (const file of onePerFile(wanted)) {
    const { change, written } = planFile(file, files.get(file.path));
    if (sameBytes(change.before, change.after)) {
      // It came with the repository and stays with it.
      if (!files.has(file.path) && file.own !== true) continue;
    } else changes.push(change);
    files.set(file.path, written);
    for (const folder of missingFolders(dirname(file.path))) folders.add(folder);
  }
  return { changes, manifest: { version: 1, root, files: [...files.values()], folders: [...folders] } };
}

/** Several clients may want parts in one file, and links may make several paths one file. */
function onePerFile(wanted: readonly WantedFile[]): Iterable<WantedFile> {
  const files = new Map<string, WantedFile>();
  for (const each of wanted) {
    const path = linkTarget(each.path);
    const first = files.get(path);
    const parts = mergedParts(each.parts, first?.parts ?? []);
    files.set(path, { ...each, ...first, path, parts });
  }
  return files.values();
}

/** Files planned by another module. An undo restores them as they were or leaves them alone. */
export function planBytes(plan: Plan, planned: readonly FileChange[]): Plan {
  const changes = planned.filter(({ before, after }) => !sameBytes(before, after));
  const files = new Map(plan.manifest.files.map((file) => [file.path, file]));
  for (const { path, before, after } of changes) {
    const known = files.get(path);
    const written = [...(known?.written ?? []), hashOf(after)].slice(-2);
    const original = known === undefined ? base64(before) : known.original;
    const mode = known === undefined ? modeOf(path) : known.mode;
    files.set(path, { path, original, mode, written, parts: [{ kind: 'bytes' }] });
  }
  const folders = new Set([
    ...plan.manifest.folders,
    ...changes.flatMap(({ path }) => missingFolders(dirname(path))),
  ]);
  return {
    changes: [...plan.changes, ...changes],
    manifest: { ...plan.manifest, files: [...files.values()], folders: [...folders] },
  };
}

function planFile(
  file: WantedFile,
  known: WrittenFile | undefined,
): { change: FileChange; written: WrittenFile } {
  const { path, client, parts, mode } = file;
  const before = readBytes(path);
  const text = before === undefined ? undefined : decoded(before, path);
  const untouched = known?.written.includes(hashOf(before)) === true;
  let edited = text;
  for (const part of parts) edited = withPart(edited, part, path, untouched);
  const after = edited === undefined ? undefined : Buffer.from(edited);
  const change = { path, before, after, ...(before === undefined ? { mode } : {}) };
  // Already ours but missing from this record, for example because the worktree was moved.
  const isStray = known === undefined && before !== undefined && sameBytes(before, after);
  const ours = isStray ? parts : known?.parts;
  const base =
    ours === undefined || untouched
      ? { original: known === undefined ? base64(before) : known.original, mode: known?.mode ?? modeOf(path) }
      : { original: base64(withoutOurs(text, ours, path)), mode: modeOf(path) };
  const hashes =
    sameBytes(before, after) && known !== undefined
      ? known.written
      : [...(known?.written ?? []), hashOf(after)];
  const all = mergedParts(known?.parts ?? [], parts);
  return { change, written: { path, client, ...base, written: hashes.slice(-2), parts: all } };
}

/** What an undo would leave of a file that was edited since. */
function withoutOurs(text: string | undefined, parts: readonly Part[], path: string): Buffer | undefined {
  let rest = text;
  for (const part of parts) rest = rest === undefined ? undefined : withoutPart(rest, part, path);
  return rest === undefined || isEmpty(rest) ? undefined : Buffer.from(rest);
}

export interface Undone {
  readonly change: FileChange;
  /** Edited after `cox init`: only our parts are removed, and the rest stays as it is now. */
  readonly edited: boolean;
  /** Our parts can't be removed without guessing. */
  readonly left: boolean;
}

export function planUndo({ files }: Manifest): Undone[] {
  return files.map((file) => {
    const { path, original, mode, written, parts } = file;
    const before = readBytes(path);
    const first = original === null ? undefined : Buffer.from(original, 'base64');
    if (sameBytes(before, first))
      return { change: { path, before, after: before }, edited: false, left: false };
    if (written.includes(hashOf(before)))
      return { change: { path, before, after: first, mode }, edited: false, left: false };
    if (before === undefined) return { change: { path, before, after: before }, edited: true, left: false };
    if (parts.some(({ kind }) => kind === 'bytes'))
      return { change: { path, before, after: before }, edited: true, left: true };
    const after = withoutOurs(decoded(before, path), parts, path);
    return {
      change: { path, before, after },
      edited: true,
      left: sameBytes(before, after) && isWhole(parts),
    };
  });
}

function isWhole(parts: readonly Part[]): boolean {
  return parts.some(({ kind }) => kind === 'file');
}

export function missingFolders(folder: string): string[] {
  const missing: string[] = [];
  for (let at = folder; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at))
    missing.push(at);
  return missing;
}

function decoded(bytes: Buffer, path: string): string {
  try {
    // The byte order mark stays: it is part of the file.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Unusable(path, undefined, 'is not UTF-8');
  }
}

function hashOf(bytes: Buffer | undefined): string {
  return bytes === undefined ? 'none' : sha256(bytes);
}

function base64(bytes: Buffer | undefined): string | null {
  return bytes === undefined ? null : bytes.toString('base64');
}
