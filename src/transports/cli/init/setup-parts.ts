import { canonical, type Json } from '../../../kernel/json.ts';
import { addHooks, type HookEvents, removeHooks } from './hook-parts.ts';
import { parseLoosely, removeJson, setJson, withoutMark } from './json-text.ts';
import { addServer, removeServer } from './toml-server.ts';
import { parseTomlText, putTable, removeTable, type TomlTable, tomlAt } from './toml-text.ts';
import { Unusable } from './unusable.ts';

/**
 * Our part of a file. Plain data: the manifest stores it, so that an undo years later knows what to remove.
 */
export type Part =
  | {
      readonly kind: 'json-value';
      readonly at: readonly string[];
      readonly value: Json;
      /** Removed only while its value is what we wrote: a later decision by a person stays. */
      readonly ifSame?: boolean;
    }
  | { readonly kind: 'json-hooks'; readonly events: HookEvents }
  | { readonly kind: 'toml-server'; readonly table: TomlTable }
  /** Removed only while its value is what we wrote, as above. */
  | { readonly kind: 'toml-table'; readonly at: readonly string[]; readonly table: TomlTable }
  | {
      readonly kind: 'block';
      readonly begin: string;
      readonly end: string;
      readonly lines: readonly string[];
    }
  | { readonly kind: 'file'; readonly text: string }
  /** Another module knows its content; it is restored, never edited. */
  | { readonly kind: 'bytes' };

/** The text with our part in it, however much of the part was already there. */
export function withPart(text: string | undefined, part: Part, path: string, isOurs: boolean): string {
  switch (part.kind) {
    case 'json-value':
      return inJson(text, (body) => setValue(body, part.at, part.value, path));
    case 'json-hooks':
      return inJson(text, (body) => addHooks(body, path, part.events));
    case 'toml-server':
      return addServer(text ?? '', path, part.table);
    case 'toml-table':
      return putTable(text ?? '', path, part.at, { table: part.table });
    case 'block':
      return withBlock(text ?? '', part);
    case 'file':
      if (text === undefined || text === part.text || isOurs) return part.text;
      throw new Unusable(
        path,
        undefined,
        'exists and was not written by cox init',
        'Move it away, then run `cox init --skills` again.',
      );
    case 'bytes':
      return text ?? '';
  }
}

/** The text without our part; undefined if nothing worth keeping is left. */
export function withoutPart(text: string, part: Part, path: string): string | undefined {
  switch (part.kind) {
    case 'json-value':
      return inJson(text, (body) =>
        part.ifSame === true && !isSame(valueAt(body, part.at), part.value)
          ? body
          : removeJson(body, path, part.at),
      );
    case 'json-hooks':
      return inJson(text, (body) => removeHooks(body, path));
    case 'toml-server':
      return removeServer(text, path);
    case 'toml-table':
      return isSame(tomlAt(parseTomlText(text, path), part.at), part.table)
        ? removeTable(text, path, part.at)
        : text;
    case 'block':
      return withoutBlock(text, part);
    case 'file':
      return text === part.text ? undefined : text;
    case 'bytes':
      return text;
  }
}

/** A file without any content that means something. */
export function isEmpty(text: string): boolean {
  return /^\ufeff?\s*(\{\s*\})?\s*$/.test(text);
}

function inJson(text: string | undefined, edit: (body: string) => string): string {
  const { mark, body } = withoutMark(text ?? '');
  if (body.trim() !== '') return mark + edit(body);
  return `${mark}${edit('{}')}\n`;
}

function setValue(body: string, at: readonly string[], value: Json, path: string): string {
  const edited = setJson(body, path, at, value);
  // If a property occurs twice, the last one counts, but the edit may have found the first.
  if (!isSame(valueAt(edited, at), value))
    throw new Unusable(path, undefined, `has ${at.join('.')} more than once`);
  return edited;
}

function valueAt(body: string, at: readonly string[]): unknown {
  return at.reduce<unknown>(
    (inner, name) => (inner as Record<string, unknown> | undefined)?.[name],
    parseLoosely(body),
  );
}

function isSame(there: unknown, ours: unknown): boolean {
  return canonical(there) === canonical(ours);
}

/** Includes what was written earlier and is not requested now: it is still ours, and an undo removes it. */
export function mergedParts(before: readonly Part[], now: readonly Part[]): Part[] {
  const names = new Set(now.map(nameOf));
  return [...now, ...before.filter((part) => !names.has(nameOf(part)))];
}

/** Identifies a part, whatever its value. */
function nameOf(part: Part): string {
  if ('at' in part) return JSON.stringify([part.kind, part.at]);
  return part.kind === 'block' ? `${part.kind} ${part.begin}` : part.kind;
}

type Block = Extract<Part, { kind: 'block' }>;

function withBlock(text: string, { begin, end, lines }: Block): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const block = [begin, ...lines, end].join(eol);
  const place = blockPlace(text, begin, end);
  if (place !== undefined) return text.slice(0, place.from) + block + text.slice(place.to);
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : `${eol}${eol}`;
  return `${text}${gap}${block}${eol}`;
}

function withoutBlock(text: string, { begin, end }: Block): string {
  const place = blockPlace(text, begin, end);
  if (place === undefined) return text;
  const head = text.slice(0, place.from);
  const tail = text.slice(place.to).replace(/^\r?\n/, '');
  return (tail === '' ? head.replace(/(\r?\n)\r?\n$/, '$1') : head) + tail;
}

function blockPlace(text: string, begin: string, end: string): { from: number; to: number } | undefined {
  const from = text.indexOf(begin);
  const last = from === -1 ? -1 : text.indexOf(end, from);
  return last === -1 ? undefined : { from, to: last + end.length };
}
