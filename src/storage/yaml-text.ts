import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  type Node,
  parseDocument,
  type Scalar,
  stringify,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { canonical, type Json } from '../kernel/json.ts';

/** One value to be changed. */
export interface Setting {
  readonly path: readonly string[];
  readonly value: Json;
  /** A new value goes after the last of these keys that exists; without one, to the end of its map. */
  readonly after?: readonly string[] | undefined;
}

export type Rewritten = { readonly text: string } | { readonly problem: string };

/** Times stay text: other programs that read the file may quote them or not. */
const SCHEMA = { schema: 'core', uniqueKeys: true } as const;

/**
 * The text with some values changed. Only these change; every other byte stays where it is, above all
 * people's comments. A change that can't be made by replacing parts of the text is written from the parsed
 * document, which keeps comments but not spacing.
 */
export function rewriteYaml(text: string, settingsFor: (file: unknown) => readonly Setting[]): Rewritten {
  const document = parseDocument(text, SCHEMA);
  const [error] = document.errors;
  if (error !== undefined) return { problem: firstLine(error.message) };
  if (!isMap(document.contents)) return { problem: 'not a map' };
  try {
    const settings = settingsFor(document.toJS());
    if (settings.length === 0) return { text };
    const cut = spliced(text, settings, document);
    for (const { path, value } of settings) setDeep(document, path, value);
    // The edited text is used only if it parses to exactly the intended document.
    const isRight = cut !== undefined && says(cut, document);
    return { text: isRight ? cut : withLinesOf(text, document.toString({ lineWidth: 0 })) };
  } catch (cause) {
    // An alias that leads nowhere, or expands without end.
    return { problem: cause instanceof Error ? firstLine(cause.message) : String(cause) };
  }
}

/** The document is written with Unix line ends. */
function withLinesOf(text: string, written: string): string {
  const isCrLf = text.includes('\r\n') && !/(?<!\r)\n/.test(text);
  return isCrLf ? written.replaceAll('\n', '\r\n') : written;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? 'no YAML';
}

function says(text: string, document: Document): boolean {
  const written = parseDocument(text, SCHEMA);
  return written.errors.length === 0 && canonical(written.toJS()) === canonical(document.toJS());
}

/** Also creates missing levels: `design:` without a value counts as an empty map. */
function setDeep(document: Document, path: readonly string[], value: Json): void {
  for (let length = 1; length < path.length; length += 1) {
    const above = path.slice(0, length);
    const node = ownNode(document, above);
    if (isScalar(node) && node.value === null) putNode(document, above, {});
  }
  const node = ownNode(document, path);
  if (isScalar(node) && (typeof value !== 'object' || value === null)) node.value = value;
  else putNode(document, path, value);
}

/** A comment beside the old value is kept for the new one. */
function putNode(document: Document, path: readonly string[], value: Json): void {
  const old = document.getIn(path, true);
  const node = document.createNode(value);
  if (isNode(old)) {
    const { commentBefore: before, comment: behind, spaceBefore } = old;
    const comment = [before, behind].filter((each) => typeof each === 'string').join('\n');
    if (comment !== '') node.commentBefore = comment;
    if (spaceBefore !== undefined) node.spaceBefore = spaceBefore;
  }
  document.setIn(path, node);
}

/**
 * The value at a path, not shared with another path. A value that is there by an alias, or has an anchor used
 * elsewhere, belongs to the other place too, and that one must keep its value.
 */
function ownNode(document: Document, path: readonly string[]): Node | undefined {
  const there = document.getIn(path, true);
  if (isAlias(there)) {
    const copy = copyFor(there, there.resolve(document));
    document.setIn(path, copy);
    return copy;
  }
  if (!isNode(there)) return undefined;
  if (there.anchor !== undefined) {
    visit(document, {
      Alias: (_key, alias) => (alias.resolve(document) === there ? copyFor(alias, there) : undefined),
    });
    delete there.anchor;
  }
  return there;
}

/** With the comments of its new place. Anchors must be unique: those inside stay with the original. */
function copyFor(alias: Alias, node: Scalar | YAMLMap | YAMLSeq | undefined): Node {
  if (node === undefined) throw new Error(`Unresolved alias: ${alias.source}`);
  const { comment, commentBefore, spaceBefore } = alias;
  const copy = Object.assign(node.clone() as typeof node, { comment, commentBefore, spaceBefore });
  const unnamed = (_key: unknown, each: Scalar | YAMLMap | YAMLSeq) => void delete each.anchor;
  visit(copy, { Scalar: unnamed, Map: unnamed, Seq: unnamed });
  return copy;
}

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Undefined: it can't be done by replacing parts of the text. */
function spliced(text: string, settings: readonly Setting[], document: Document): string | undefined {
  const splices: Splice[] = [];
  for (const setting of settings) {
    const found = splicesFor(text, setting, document);
    if (found === undefined) return undefined;
    splices.push(...found);
  }
  // From the end on, so that earlier offsets stay valid; of two changes at one place the first stays before
  // the second.
  const ordered = splices.map((splice, order) => ({ ...splice, order }));
  ordered.sort((a, b) => b.from - a.from || b.order - a.order);
  return ordered.reduce(
    (now, { from, to, text: put }) => `${now.slice(0, from)}${put}${now.slice(to)}`,
    text,
  );
}

function splicesFor(
  text: string,
  { path, value, after }: Setting,
  document: Document,
): readonly Splice[] | undefined {
  const node = document.getIn(path, true);
  const map = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(map)) return undefined;
  const key = String(path.at(-1));
  if (isScalar(node) && typeof value === 'object' && value !== null)
    return unfolded(text, map, key, node, value);
  if (node !== undefined && !isScalar(node)) return undefined;
  const one = isScalar(node)
    ? replaced(text, node, value as Exclude<Json, object>)
    : inserted(text, map, key, value, after);
  return one && [one];
}

/** `error: null  # why` becomes `error:  # why`, with the new contents on the lines below. */
function unfolded(
  text: string,
  map: YAMLMap,
  key: string,
  node: Scalar,
  value: Json & object,
): readonly Splice[] | undefined {
  const place = map.flow === true ? undefined : lineOf(text, map, key);
  if (place === undefined || !node.range || node.anchor !== undefined || node.tag !== undefined)
    return undefined;
  const [from, to] = node.range;
  // With no old value there is nothing to remove: the blank before a comment belongs to the comment.
  const blanks = from === to ? 0 : (/[ \t]*$/.exec(text.slice(0, from))?.[0].length ?? 0);
  const taken = { from: from - blanks, to, text: '' };
  const below = stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
  const { indent, end, eol } = place;
  const lines = below.map((each) => `${eol}${indent}  ${each}`).join('');
  // A scalar of several lines ends after the line of its key.
  return to > end ? undefined : [taken, { from: end, to: end, text: lines }];
}

interface KeyLine {
  readonly indent: string;
  /** The end of the line of its value, including a comment. */
  readonly end: number;
  readonly eol: string;
}

function lineOf(text: string, map: YAMLMap, key: string): KeyLine | undefined {
  const pair = map.items.find((item) => isScalar(item.key) && item.key.value === key);
  if (!isScalar(pair?.key) || !pair.key.range || !isScalar(pair.value)) return undefined;
  const [start] = pair.key.range;
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const indent = text.slice(line, start);
  if (indent.trim() !== '') return undefined;
  const found = text.indexOf('\n', pair.value.range?.[1] ?? start);
  const last = found === -1 ? text.length : found;
  const isCrLf = text[last - 1] === '\r';
  return { indent, end: isCrLf ? last - 1 : last, eol: isCrLf ? '\r\n' : '\n' };
}

function replaced(text: string, node: Scalar, value: Exclude<Json, object>): Splice | undefined {
  if (!node.range || node.anchor !== undefined || node.tag !== undefined) return undefined;
  const [from, to] = node.range;
  const isEmpty = from === to;
  // A file that quotes its values keeps doing so.
  const [quote] = /^["']/.exec(text.slice(from, to)) ?? [''];
  const keepsQuote =
    quote !== '' && typeof value === 'string' && !value.includes(quote) && !/[\\\p{Cc}]/u.test(value);
  const quoted = keepsQuote ? `${quote}${value}${quote}` : written(value);
  return { from, to, text: `${isEmpty ? ' ' : ''}${quoted}` };
}

/**
 * In a block map, after a value on a single line, on lines of its own; a comment after that value stays with
 * it.
 */
function inserted(
  text: string,
  map: YAMLMap,
  key: string,
  value: Json,
  after: readonly string[] | undefined,
): Splice | undefined {
  if (map.flow === true) return undefined;
  const candidates = map.items.filter(
    (pair) =>
      isScalar(pair.key) &&
      (after === undefined || after.includes(String(pair.key.value))) &&
      isScalar(pair.value) &&
      !text.slice(...(pair.value.range ?? [0, 0])).includes('\n'),
  );
  const last = candidates.at(-1)?.key;
  const place = isScalar(last) ? lineOf(text, map, String(last.value)) : undefined;
  if (place === undefined) return undefined;
  const { indent, end, eol } = place;
  const lines = stringify({ [key]: value }, { lineWidth: 0 })
    .trimEnd()
    .split('\n');
  return { from: end, to: end, text: lines.map((each) => `${eol}${indent}${each}`).join('') };
}

function written(value: Json): string {
  return stringify(value, { lineWidth: 0 }).trim();
}
