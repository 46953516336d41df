import { type Document, isMap, isScalar, parseDocument, type Scalar, stringify, type YAMLMap } from 'yaml';
import { canonical } from '../kernel/json.ts';
import type { ViewedClaim } from './claims-read.ts';
import { type Setting, settingsFor } from './trajectory.ts';

export type Rewritten = { readonly text: string } | { readonly problem: string };

/** Times stay text: a file that somebody else reads has them quoted or not, as it likes. */
const SCHEMA = { schema: 'core', uniqueKeys: true } as const;

/**
 * A feature file as the log has it. Only the values that differ change; every other byte stays where it is, a person's comments
 * first of all.
 */
export function rewriteFeature(text: string, claims: readonly ViewedClaim[]): Rewritten {
  const document = parseDocument(text, SCHEMA);
  const [error] = document.errors;
  if (error !== undefined) return { problem: error.message.split('\n', 1)[0] ?? 'no YAML' };
  if (!isMap(document.contents)) return { problem: 'not a map' };
  try {
    const settings = settingsFor(document.toJS(), claims);
    if (settings.length === 0) return { text };
    for (const { path, value } of settings) setDeep(document, path, value);
    const cut = settings.reduce<string | undefined>((now, setting) => now && inPlace(now, setting), text);
    // Text that was cut and put together is believed only when it says exactly what it was meant to.
    const isRight =
      cut !== undefined && canonical(parseDocument(cut, SCHEMA).toJS()) === canonical(document.toJS());
    return { text: isRight ? cut : document.toString({ lineWidth: 0 }) };
  } catch (cause) {
    // An alias where we have to write, or one that unfolds without end.
    return { problem: cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : String(cause) };
  }
}

/** Also through what is empty so far: `design:` with nothing behind it is a map that nobody has filled in. */
function setDeep(document: Document, path: readonly string[], value: Setting['value']): void {
  for (let length = 1; length < path.length; length += 1) {
    const above = path.slice(0, length);
    const node = document.getIn(above, true);
    if (isScalar(node) && node.value === null) document.setIn(above, document.createNode({}));
  }
  document.setIn(path, value);
}

/** Undefined: it can't be done by changing one place of the text. */
function inPlace(text: string, { path, value }: Setting): string | undefined {
  const document = parseDocument(text, SCHEMA);
  const node = document.getIn(path, true);
  if (isScalar(node)) return replaced(text, node, value);
  if (node !== undefined) return undefined;
  const map = document.getIn(path.slice(0, -1), true);
  return isMap(map) && path.length > 1 ? inserted(text, map, String(path.at(-1)), value) : undefined;
}

function replaced(text: string, node: Scalar, value: Setting['value']): string | undefined {
  if (!node.range || node.anchor !== undefined || node.tag !== undefined) return undefined;
  const [from, to] = node.range;
  const isEmpty = from === to;
  // Who quotes everything goes on doing so.
  const [quote] = /^["']/.exec(text.slice(from, to)) ?? [''];
  const quoted = typeof value === 'string' && quote !== '' ? `${quote}${value}${quote}` : written(value);
  return `${text.slice(0, from)}${isEmpty ? ' ' : ''}${quoted}${text.slice(to)}`;
}

/** After the last of our own values in a block map, on a line of its own; a comment behind that value stays behind it. */
function inserted(text: string, map: YAMLMap, key: string, value: Setting['value']): string | undefined {
  if (map.flow === true) return undefined;
  const ours = map.items.filter(
    (pair) => isScalar(pair.key) && ['status', 'iteration', 'started_at'].includes(String(pair.key.value)),
  );
  const last = ours.at(-1);
  if (last === undefined || !isScalar(last.key) || !last.key.range) return undefined;
  const [start] = last.key.range;
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const indent = text.slice(line, start);
  if (indent.trim() !== '' || !isScalar(last.value)) return undefined;
  const end = text.indexOf('\n', last.value.range?.[1] ?? start);
  const at = end === -1 ? text.length : end;
  const eol = text[at - 1] === '\r' ? '\r\n' : '\n';
  const before = eol === '\r\n' ? at - 1 : at;
  return `${text.slice(0, before)}${eol}${indent}${key}: ${written(value)}${text.slice(before)}`;
}

function written(value: Setting['value']): string {
  return stringify(value, { lineWidth: 0 }).trim();
}
