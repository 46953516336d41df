import { parse, TomlError } from 'smol-toml';
import { canonical, type Json, type JsonObject } from '../../../kernel/json.ts';
import { Unusable } from './unusable.ts';

export type TomlTable = Readonly<Record<string, string | readonly string[] | number | boolean>>;

/** The names in a table's header, outermost first. */
export type TomlPath = readonly string[];

/** Any header ends the table before it. */
const HEADER = /^\s*\[/;

/** Throws an error that says what is wrong, and in which line. */
export function parseTomlText(text: string, path: string): JsonObject {
  try {
    return parse(text.replace(/^\ufeff/, '')) as JsonObject;
  } catch (error) {
    if (error instanceof TomlError) {
      const [problem = ''] = error.message.split('\n');
      throw new Unusable(path, error.line, `is no TOML (${problem})`);
    }
    throw error;
  }
}

export function tomlAt(document: JsonObject, at: TomlPath): Json | undefined {
  return at.reduce<Json | undefined>(
    (value, name) => (value as JsonObject | null | undefined)?.[name],
    document,
  );
}

/**
 * TOML text keeps its comments only if it is left alone. So the table is appended, or replaces the existing
 * one. The result is parsed and compared: everything else must mean what it meant before.
 */
export function putTable(
  text: string,
  path: string,
  at: TomlPath,
  { table, mark }: { table: TomlTable; mark?: string },
): string {
  const before = parseTomlText(text, path);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const block = [
    ...(mark === undefined ? [] : [mark]),
    `[${at.map(nameText).join('.')}]`,
    ...Object.entries(table).map(([key, value]) => `${key} = ${valueText(value)}`),
  ].map((line) => `${line}${eol}`);
  const lines = linesOf(text);
  const place = tomlAt(before, at) === undefined ? undefined : placeOf(lines, at, mark);
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : `${eol}${eol}`;
  const after =
    place === undefined
      ? text + gap + block.join('')
      : lines.toSpliced(place.from, place.to - place.from, ...block).join('');
  assertOnlyOurs(before, after, path, at);
  return after;
}

/** Also removes its subtables, which hold what the client noted about our table. */
export function removeTable(text: string, path: string, at: TomlPath, mark?: string): string {
  const before = parseTomlText(text, path);
  if (tomlAt(before, at) === undefined) return text;
  let lines = linesOf(text);
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    if (headerBelow(lines, index, at) === undefined) continue;
    const { from, to } = extent(lines, index, mark);
    // Also remove the empty line we put before it, unless that line now separates two other tables.
    const isLoose = lines[from - 1]?.trim() === '' && (lines[to] ?? '').trim() === '';
    const start = isLoose ? from - 1 : from;
    lines = lines.toSpliced(start, to - start);
  }
  const after = lines.join('');
  assertOnlyOurs(before, after, path, at);
  return after;
}

/** Whether the table exists with the mark directly before it. */
export function isMarked(text: string, at: TomlPath, mark: string): boolean {
  return placeOf(linesOf(text), at, mark) !== undefined;
}

/** The line of the table's header, counted from 1. */
export function lineOfTable(text: string, at: TomlPath): number | undefined {
  const index = indexOfTable(linesOf(text), at);
  return index === -1 ? undefined : index + 1;
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function placeOf(lines: readonly string[], at: TomlPath, mark: string | undefined) {
  const index = indexOfTable(lines, at);
  if (index === -1 || (mark !== undefined && lines[index - 1]?.trimEnd() !== mark)) return undefined;
  return extent(lines, index, mark);
}

function indexOfTable(lines: readonly string[], at: TomlPath): number {
  return lines.findIndex((_, index) => headerBelow(lines, index, at)?.length === at.length);
}

/** A table's own lines: from its mark or header to the first empty line, comment or header. */
function extent(lines: readonly string[], header: number, mark: string | undefined) {
  let to = header + 1;
  while (to < lines.length && !/^\s*(#|$)/.test(lines[to] ?? '') && !HEADER.test(lines[to] ?? '')) to += 1;
  const isBelowMark = mark !== undefined && lines[header - 1]?.trimEnd() === mark;
  return { from: isBelowMark ? header - 1 : header, to };
}

/**
 * The names in this line's header, if it is the header of the table or of a subtable. The parser reads them,
 * because they may be quoted in two ways.
 */
function headerBelow(lines: readonly string[], index: number, at: TomlPath): string[] | undefined {
  const line = lines[index] ?? '';
  if (!/^\s*\[[^[]/.test(line)) return undefined;
  const names: string[] = [];
  try {
    let table = parse(line) as JsonObject;
    for (let [name] = Object.keys(table); name !== undefined; [name] = Object.keys(table)) {
      names.push(name);
      table = table[name] as JsonObject;
    }
    if (!at.every((name, depth) => names[depth] === name)) return undefined;
    // Inside a multi-line string, the text above does not parse by itself.
    parse(
      lines
        .slice(0, index)
        .join('')
        .replace(/^\ufeff/, ''),
    );
  } catch {
    return undefined;
  }
  return names;
}

function assertOnlyOurs(before: JsonObject, after: string, path: string, at: TomlPath): void {
  let others: string | undefined;
  try {
    others = canonical(without(parse(after.replace(/^\ufeff/, '')) as JsonObject, at));
  } catch {}
  if (others === canonical(without(before, at))) return;
  const name = at.join('.');
  throw new Unusable(
    path,
    undefined,
    `has its ${at[0]} in a form that cannot be edited safely`,
    `Edit ${name} by hand.`,
  );
}

/** Tables on the path that become empty are removed too. */
function without(document: JsonObject, [name = '', ...below]: TomlPath): JsonObject {
  const { [name]: inner, ...rest } = document;
  if (below.length === 0 || typeof inner !== 'object' || inner === null) return rest;
  const others = without(inner as JsonObject, below);
  return Object.keys(others).length === 0 ? rest : { ...rest, [name]: others };
}

function nameText(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : quoted(name);
}

function valueText(value: TomlTable[string]): string {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'object' ? `[${value.map(quoted).join(', ')}]` : String(value);
}

/** A JSON string is also a TOML basic string, except for DEL. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
