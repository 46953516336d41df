import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { Unusable } from './unusable.ts';

/** The scanner's tokens; its enum exists only as a type. Comments and white space are 12 to 15. */
const COMMA = 5;
const LINE_COMMENT = 12;
const SPACE = 15;
const END_OF_FILE = 17;

/** Property names and element indexes. */
export type JsonPath = readonly (string | number)[];

/**
 * Edits JSON written by people and other programs, with comments, trailing commas, tabs, CRLF and a byte
 * order mark. Every byte that is not ours stays. The parser's own `modify` reformats whole lines, so it is
 * used only to find positions.
 */
export function parseJson(text: string, path: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined)
    throw new Unusable(path, lineOf(text, first.offset), `is no JSON (${printParseErrorCode(first.error)})`);
  if (root?.type !== 'object') throw new Unusable(path, 1, 'is no JSON object');
  return root;
}

/**
 * Reads it like a program that accepts comments and trailing commas. If a property occurs twice, the last one
 * counts.
 */
export function parseLoosely(text: string): unknown {
  return parse(withoutMark(text).body, [], { allowTrailingComma: true });
}

/**
 * The object in a file that may be absent or empty. Throws an error that says what is wrong, and in which
 * line.
 */
export function jsonIn(text: string | undefined, path: string): JsonObject | undefined {
  const { body } = withoutMark(text ?? '');
  return body.trim() === '' ? undefined : (getNodeValue(parseJson(body, path)) as JsonObject);
}

/** The text without its byte order mark, which the parser would treat as an error. */
export function withoutMark(text: string): { mark: string; body: string } {
  return text.startsWith('\ufeff') ? { mark: '\ufeff', body: text.slice(1) } : { mark: '', body: text };
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/**
 * Sets the value at the path. Missing objects on the way are created; a value of another type there is an
 * error.
 */
export function setJson(text: string, path: string, at: JsonPath, value: Json): string {
  const root = parseJson(text, path);
  const there = findNodeAtLocation(root, [...at]);
  if (there !== undefined)
    return replaced(text, there.offset, there.offset + there.length, styled(text, there, value));
  for (let depth = at.length - 1; depth >= 0; depth -= 1) {
    const container = findNodeAtLocation(root, at.slice(0, depth));
    if (container === undefined) continue;
    if (container.type !== 'object')
      throw new Unusable(
        path,
        lineOf(text, container.offset),
        `has something else than an object at ${at.slice(0, depth).join('.')}`,
      );
    const nested = at.slice(depth + 1).reduceRight<Json>((inner, name) => ({ [name]: inner }), value);
    return inserted(text, container, String(at[depth]), nested);
  }
  return text;
}

/** Adds an element to the end of the array at the path, creating the array if needed. */
export function appendJson(text: string, path: string, at: JsonPath, value: Json): string {
  const list = findNodeAtLocation(parseJson(text, path), [...at]);
  if (list === undefined) return setJson(text, path, at, [value]);
  if (list.type !== 'array')
    throw new Unusable(path, lineOf(text, list.offset), `has something else than a list at ${at.join('.')}`);
  return inserted(text, list, undefined, value);
}

/** Removes the value, and every container on its path that becomes empty. */
export function removeJson(text: string, path: string, at: JsonPath): string {
  const node = findNodeAtLocation(parseJson(text, path), [...at]);
  const container = node === undefined ? undefined : containerOf(node);
  if (node === undefined || container === undefined) return text;
  const item = node.parent?.type === 'property' ? node.parent : node;
  if (container.parent !== undefined && isAlone(text, container, item))
    return removeJson(text, path, at.slice(0, -1));
  return withoutItem(text, container, item);
}

/** The container holds nothing else, not even a comment. */
function isAlone(text: string, container: Node, item: Node): boolean {
  const before = text.slice(container.offset + 1, item.offset);
  const after = text.slice(item.offset + item.length, container.offset + container.length - 1);
  return /^[\s,]*$/.test(before + after);
}

function containerOf(node: Node): Node | undefined {
  return node.parent?.type === 'property' ? node.parent.parent : node.parent;
}

function replaced(text: string, from: number, to: number, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

interface Style {
  readonly eol: string;
  /** One level of indentation. */
  readonly unit: string;
}

function styleOf(text: string): Style {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return { eol, unit: unit.startsWith('\t') ? '\t' : unit };
}

/** The white space at the start of the line that contains this offset. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
}

function printed(value: Json, indent: string, { eol, unit }: Style): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`);
}

/** Stays on one line if the value is on one line now. */
function styled(text: string, there: Node, value: Json): string {
  const old = text.slice(there.offset, there.offset + there.length);
  const isShort =
    there.type === 'object' || there.type === 'array'
      ? !old.includes('\n') && there.children?.length !== 0
      : true;
  return isShort ? JSON.stringify(value) : printed(value, indentAt(text, there.offset), styleOf(text));
}

/** Adds a last property or element in the style of those before it. */
function inserted(text: string, container: Node, name: string | undefined, value: Json): string {
  const style = styleOf(text);
  const close = container.offset + container.length - 1;
  const last = container.children?.at(-1);
  const outer = indentAt(text, container.offset);
  const inline = last !== undefined && !text.slice(container.offset, close).includes('\n');
  const inner = last === undefined || inline ? outer + style.unit : indentAt(text, last.offset);
  const key = name === undefined ? '' : `${JSON.stringify(name)}: `;
  const item = key + (inline ? JSON.stringify(value) : printed(value, inner, style));
  // After everything before the closing bracket, comments included.
  const end = container.offset + 1 + text.slice(container.offset + 1, close).trimEnd().length;
  if (last === undefined) {
    const rest = end === container.offset + 1 ? '' : text.slice(container.offset + 1, end);
    return replaced(
      text,
      container.offset + 1,
      close,
      `${rest}${style.eol}${inner}${item}${style.eol}${outer}`,
    );
  }
  const before = inline ? ' ' : `${style.eol}${inner}`;
  const comma = commaAfter(text, last.offset + last.length, close);
  if (comma !== undefined) return replaced(text, end, end, `${before}${item},`);
  const lastEnd = last.offset + last.length;
  return `${text.slice(0, lastEnd)},${text.slice(lastEnd, end)}${before}${item}${text.slice(end)}`;
}

/**
 * Removes one item, its comma and the space before it. A comment on its own line does not belong to the item
 * and stays.
 */
function withoutItem(text: string, container: Node, item: Node): string {
  const items = container.children ?? [];
  const index = items.indexOf(item);
  const close = container.offset + container.length - 1;
  const itemEnd = item.offset + item.length;
  const comma = commaAfter(text, itemEnd, close);
  const to = comma === undefined ? itemEnd : comma + 1;
  const from = text.slice(0, item.offset).trimEnd().length;
  const previous = items[index - 1];
  if (index === items.length - 1 && previous !== undefined && comma === undefined) {
    const separator = commaAfter(text, previous.offset + previous.length, close);
    if (separator !== undefined)
      return joined(text.slice(0, separator) + text.slice(separator + 1, from), text.slice(to));
  }
  return joined(text.slice(0, from), text.slice(to));
}

/** A line comment at the end of `head` must not swallow `tail`. */
function joined(head: string, tail: string): string {
  if (/^\s*\n/.test(tail)) return head + tail;
  const scanner = createScanner(head);
  let last = 0;
  for (let token: number = scanner.scan(); token !== END_OF_FILE; token = scanner.scan()) last = token;
  return last === LINE_COMMENT ? `${head}${styleOf(head).eol}${tail}` : head + tail;
}

/** The position of the comma that follows an item, if there is one. */
function commaAfter(text: string, offset: number, limit: number): number | undefined {
  const scanner = createScanner(text);
  scanner.setPosition(offset);
  for (let token: number = scanner.scan(); scanner.getTokenOffset() < limit; token = scanner.scan()) {
    if (token === COMMA) return scanner.getTokenOffset();
    if (token < LINE_COMMENT || token > SPACE) return undefined;
  }
  return undefined;
}
