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
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { canonical, type Json } from '../kernel/json.ts';
import { type Setting, spliced } from './yaml-splices.ts';

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
