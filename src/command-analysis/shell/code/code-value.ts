/** What an expression evaluates to, as far as the source shows it. */
export type Value =
  | { readonly kind: 'text'; readonly text: string; readonly glob?: boolean; readonly holes?: boolean }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'list'; readonly items: readonly Value[] }
  /** A function of the language, by the last part of its name. */
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'unknown'; readonly source: string };

export const text = (value: string): Value => ({ kind: 'text', text: value });
export const unknown = (source: string): Value => ({ kind: 'unknown', source });

/** The home folder: the shell that reads it knows where that is. */
export const HOME = '\u{e000}';
/** A part that is computed at run time. */
export const HOLE = '\u{e001}';

const TEXT_CHARS_MAX = 64 * 1024;

export function textOfValue(value: Value): string | undefined {
  if (value.kind === 'text') return value.text;
  return value.kind === 'number' ? String(value.number) : undefined;
}

/** Two values concatenated; an unknown value becomes a hole. */
export function concatenated(left: Value, right: Value): Value {
  if (left.kind === 'list' && right.kind === 'list')
    return { kind: 'list', items: [...left.items, ...right.items] };
  if (left.kind === 'number' && right.kind === 'number')
    return { kind: 'number', number: left.number + right.number };
  const [a, b] = [textOfValue(left), textOfValue(right)];
  if (a === undefined && b === undefined) return left.kind === 'unknown' ? left : unknown('…');
  if ((a?.length ?? 0) + (b?.length ?? 0) > TEXT_CHARS_MAX) return unknown('a very long text');
  const glob = [left, right].some((side) => side.kind === 'text' && side.glob === true);
  const holes =
    a === undefined || b === undefined || [left, right].some((side) => side.kind === 'text' && side.holes);
  return { kind: 'text', text: (a ?? HOLE) + (b ?? HOLE), glob, holes };
}

/** `"%s -rf" % x`, `"{} -rf".format(x)`. */
export function filled(value: Value, items: readonly Value[]): Value {
  if (value.kind !== 'text') return value;
  let at = 0;
  const parts = value.text.split(/%[sdr]|\{\w*\}/);
  return parts.slice(1).reduce<Value>(
    (left, part) => {
      const item = items[at] ?? unknown('…');
      at += 1;
      return concatenated(concatenated(left, item), text(part));
    },
    text(parts[0] ?? ''),
  );
}
