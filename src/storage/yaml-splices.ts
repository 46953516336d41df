import { type Document, isAlias, isMap, isScalar, type Pair, Scalar, stringify, type YAMLMap } from 'yaml';
import type { Json, JsonObject } from '../kernel/json.ts';

/** One value to be changed. */
export interface Setting {
  readonly path: readonly string[];
  readonly value: Json;
  /** A new value goes after the last of these keys that exists; without one, to the end of its map. */
  readonly after?: readonly string[] | undefined;
}

/** Settings below one map, by key. A level that several settings share is there once. */
type Changes = Map<string, { value: Json } | { below: Changes }>;

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The change can't be made by replacing parts of the text. */
const CANNOT = Symbol('cannot');

/**
 * The text with these values put in place of the old ones, by the ranges that the parser gives. Undefined: that
 * is not possible, above all where a value has an anchor or a tag.
 */
export function spliced(text: string, settings: readonly Setting[], document: Document): string | undefined {
  if (!isMap(document.contents)) return undefined;
  try {
    const splices = new Splicer(text, settings).splices(document.contents);
    // From the end on, so that earlier offsets stay valid; of two changes at one place the first stays before
    // the second.
    const ordered = splices.map((splice, order) => ({ ...splice, order }));
    ordered.sort((a, b) => b.from - a.from || b.order - a.order);
    return ordered.reduce(
      (now, { from, to, text: put }) => `${now.slice(0, from)}${put}${now.slice(to)}`,
      text,
    );
  } catch (error) {
    if (error === CANNOT) return undefined;
    throw error;
  }
}

function changesFrom(settings: readonly Setting[]): Changes {
  const top: Changes = new Map();
  for (const { path, value } of settings) {
    let level = top;
    for (const key of path.slice(0, -1)) {
      const known = level.get(key);
      const below = known !== undefined && 'below' in known ? known.below : new Map();
      level.set(key, { below });
      level = below;
    }
    level.set(path.at(-1) ?? '', { value });
  }
  return top;
}

function jsonOf(change: { value: Json } | { below: Changes }): Json {
  if ('value' in change) return change.value;
  return Object.fromEntries([...change.below].map(([key, below]) => [key, jsonOf(below)]));
}

class Splicer {
  readonly #text: string;
  readonly #changes: Changes;
  readonly #after: ReadonlySet<string> | undefined;
  readonly #eol: string;
  /** How much deeper a block is than the one around it. */
  #step = '  ';
  readonly #splices: Splice[] = [];

  constructor(text: string, settings: readonly Setting[]) {
    this.#text = text;
    this.#changes = changesFrom(settings);
    const after = settings.flatMap((setting) => setting.after ?? []);
    this.#after = after.length === 0 ? undefined : new Set(after);
    this.#eol = /\r\n/.test(text) ? '\r\n' : '\n';
  }

  splices(map: YAMLMap): readonly Splice[] {
    this.#step = this.#stepOf(map) ?? this.#step;
    this.#change(map, this.#changes);
    return this.#splices;
  }

  #change(map: YAMLMap, changes: Changes): void {
    if (map.anchor !== undefined || map.tag !== undefined) throw CANNOT;
    const added: Record<string, Json> = {};
    const levels: Record<string, Json> = {};
    for (const [key, change] of changes) {
      const pair = map.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      if (pair !== undefined) this.#put(map, pair, change);
      else ('value' in change ? added : levels)[key] = jsonOf(change);
    }
    this.#insert(map, added, this.#after);
    this.#insert(map, levels, undefined);
  }

  #put(map: YAMLMap, pair: Pair, change: { value: Json } | { below: Changes }): void {
    const { value: node } = pair;
    if (isMap(node) && 'below' in change) {
      this.#change(node, change.below);
      return;
    }
    if (!isScalar(node) || isAlias(node)) throw CANNOT;
    if (!node.range || node.anchor !== undefined || node.tag !== undefined) throw CANNOT;
    const value = jsonOf(change);
    if (typeof value === 'object' && value !== null && map.flow !== true) this.#unfold(pair, node, value);
    else this.#replace(map, pair, node, value);
  }

  #replace(map: YAMLMap, pair: Pair, node: Scalar, value: Json): void {
    const [from, to] = node.range as [number, number, number];
    const old = this.#text.slice(from, to);
    // A file that quotes its values keeps doing so.
    const [quote] = /^["']/.exec(old) ?? [''];
    const keepsQuote =
      quote !== '' && typeof value === 'string' && !value.includes(quote) && !/[\\\p{Cc}]/u.test(value);
    const isFlow = map.flow === true;
    const lines = isFlow ? inFlow(value, isJsonLike(map)) : this.#inBlock(value, this.#indentOf(pair));
    const text = keepsQuote ? `${quote}${value}${quote}` : lines;
    // A literal block ends behind its last line break, which the next key needs.
    const eol = /\n$/.test(old) ? this.#eol : '';
    this.#splices.push({ from, to, text: `${from === to ? ' ' : ''}${text}${eol}` });
  }

  /** `error: null  # why` becomes `error:  # why`, with the new contents on the lines below. */
  #unfold(pair: Pair, node: Scalar, value: Json & object): void {
    const [from, to] = node.range as [number, number, number];
    const end = this.#lineEnd(to);
    // With no old value there is nothing to remove: the blank before a comment belongs to the comment.
    const blanks = from === to ? 0 : (/[ \t]*$/.exec(this.#text.slice(0, from))?.[0].length ?? 0);
    const taken = from - blanks;
    // A scalar of several lines ends after the line of its key.
    if (this.#text.slice(taken, to).includes('\n')) throw CANNOT;
    this.#splices.push({ from: taken, to, text: '' });
    const lines = blockLines({ value })
      .slice(1)
      .map((line) => line.slice(2));
    const indent = `${this.#indentOf(pair)}${this.#step}`;
    this.#splices.push({ from: end, to: end, text: this.#below(lines, indent) });
  }

  #insert(map: YAMLMap, added: Readonly<Record<string, Json>>, after: ReadonlySet<string> | undefined): void {
    if (Object.keys(added).length === 0) return;
    const place = placeIn(map, after);
    if (map.flow === true) this.#insertFlow(map, place, added);
    else if (place === undefined) throw CANNOT;
    else {
      // A new level is written as the levels beside it are.
      const last = map.items.findLast(({ value }) => isMap(value))?.value;
      const isFlow = after === undefined && isMap(last) && last.flow === true;
      const lines = Object.entries(added).flatMap(([key, value]) => {
        const isShort = isFlow && typeof value === 'object' && value !== null;
        return isShort
          ? [`${inFlow(key, false)}: ${inFlow(value, false)}`]
          : blockLines({ [key]: value }, this.#step);
      });
      const indent = this.#indentOf(place);
      const end = this.#endOf(place);
      const isOnNewLine = this.#text[end - 1] === '\n';
      const below = this.#below(lines, indent);
      const text = isOnNewLine ? `${below.slice(this.#eol.length)}${this.#eol}` : below;
      this.#splices.push({ from: end, to: end, text });
    }
  }

  #insertFlow(map: YAMLMap, place: Pair | undefined, added: Readonly<Record<string, Json>>): void {
    if (!map.range) throw CANNOT;
    const isJson = isJsonLike(map);
    const entries = Object.entries(added).map(
      ([key, value]) => `${inFlow(key, isJson)}: ${inFlow(value, isJson)}`,
    );
    const first = map.items[0]?.key;
    if (place === undefined) {
      // `{ }` or `{}`, perhaps with a comment in it.
      const inner = this.#text.slice(map.range[0] + 1, map.range[1] - 1);
      if (inner.trim() !== '' || inner.includes('\n')) throw CANNOT;
      const text = isJson ? `{${entries.join(', ')}}` : `{ ${entries.join(', ')} }`;
      this.#splices.push({ from: map.range[0], to: map.range[1], text });
      return;
    }
    if (!isScalar(first) || !first.range) throw CANNOT;
    const before = this.#text.slice(map.range[0] + 1, first.range[0]);
    const end = valueEnd(place);
    const blank = before.includes('\n') ? before : ' ';
    if (blank.trim() !== '') throw CANNOT;
    if (blank === ' ') {
      this.#splices.push({ from: end, to: end, text: entries.map((entry) => `, ${entry}`).join('') });
      return;
    }
    // On lines of their own: a comment behind the entry before them stays with it.
    const [comma] = /^\s*,/.exec(this.#text.slice(end)) ?? [''];
    const line = this.#lineEnd(end + comma.length);
    const rest = this.#text.slice(end + comma.length, line).trim();
    if (rest !== '' && !rest.startsWith('#')) throw CANNOT;
    if (comma === '') this.#splices.push({ from: end, to: end, text: ',' });
    const text = entries.map((entry) => `${blank}${entry}`).join(',');
    this.#splices.push({ from: line, to: line, text: comma === '' ? text : `${text},` });
  }

  /** Where the entry's last line ends, with the comment on it. */
  #endOf(pair: Pair): number {
    const { value } = pair;
    if (isMap(value) && value.flow !== true) {
      const last = value.items.at(-1);
      if (last !== undefined) return this.#endOf(last);
    }
    const end = valueEnd(pair);
    const isBlock =
      isScalar(value) && (value.type === Scalar.BLOCK_LITERAL || value.type === Scalar.BLOCK_FOLDED);
    return isBlock && this.#text[end - 1] === '\n' ? end : this.#lineEnd(end);
  }

  #lineEnd(from: number): number {
    const found = this.#text.indexOf('\n', from);
    const last = found === -1 ? this.#text.length : found;
    return last > from && this.#text[last - 1] === '\r' ? last - 1 : last;
  }

  /** The blanks before a key. */
  #indentOf({ key }: Pair): string {
    if (!isScalar(key) || !key.range) throw CANNOT;
    const [start] = key.range;
    const indent = this.#text.slice(this.#text.lastIndexOf('\n', start - 1) + 1, start);
    if (indent.trim() !== '') throw CANNOT;
    return indent;
  }

  #stepOf(map: YAMLMap): string | undefined {
    for (const pair of map.items) {
      const { value } = pair;
      const [child] = isMap(value) && value.flow !== true ? value.items : [];
      if (child === undefined) continue;
      const [outer, inner] = [this.#indentOf(pair), this.#indentOf(child)];
      if (inner.startsWith(outer) && inner.length > outer.length) return inner.slice(outer.length);
    }
    return undefined;
  }

  #below(lines: readonly string[], indent: string): string {
    return lines.map((line) => `${this.#eol}${line === '' ? '' : indent}${line}`).join('');
  }

  #inBlock(value: Json, indent: string): string {
    const [first = '', ...more] = blockLines({ value });
    return `${first.slice('value: '.length)}${this.#below(more, indent)}`;
  }
}

/** The entry that new entries go after: the last one with a wanted key, else the last one. */
function placeIn({ items }: YAMLMap, after: ReadonlySet<string> | undefined): Pair | undefined {
  const wanted = items.filter(({ key }) => isScalar(key) && after?.has(String(key.value)) === true);
  return wanted.at(-1) ?? items.at(-1);
}

function valueEnd({ key, value }: Pair): number {
  const range = (value as { range?: [number, number, number] | null } | null)?.range;
  const end = range?.[1] ?? (isScalar(key) ? key.range?.[1] : undefined);
  if (end === undefined) throw CANNOT;
  return end;
}

/** As in JSON, where every name is quoted. */
function isJsonLike({ items }: YAMLMap): boolean {
  return items.length > 0 && items.every(({ key }) => isScalar(key) && key.type === Scalar.QUOTE_DOUBLE);
}

function inFlow(value: Json, isJson: boolean): string {
  if (isJson) return JSON.stringify(value);
  const list = stringify([value], { collectionStyle: 'flow', lineWidth: 0 }).trim();
  // A long list is written on several lines.
  return list
    .slice(1, -1)
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
}

function blockLines(value: JsonObject, step = '  '): string[] {
  return stringify(value, { lineWidth: 0, indent: Math.max(1, step.length) })
    .trimEnd()
    .split('\n');
}
