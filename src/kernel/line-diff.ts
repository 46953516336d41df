export type DiffLine = {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
  readonly at: number;
  readonly to: number;
};

const CONTEXT = 3;
/** For larger differences, finding the exact shortest one is not worth the time. */
const CELLS_MAX = 4_000_000;

export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The longest common subsequence of what lies between the equal beginning and the equal end. */
export function compareLines(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail))
    tail += 1;
  const [oldEnd, freshEnd] = [old.length - tail, fresh.length - tail];
  const lines: DiffLine[] = [];
  const same = (at: number, to: number) => lines.push({ sign: ' ', text: old[at] ?? '', at, to });
  for (let index = 0; index < head; index += 1) same(index, index);
  let [at, to] = [head, head];
  const longest = lengths(old.slice(head, oldEnd), fresh.slice(head, freshEnd));
  while (at < oldEnd || to < freshEnd) {
    const down = longest?.[at - head + 1]?.[to - head] ?? 0;
    const right = longest?.[at - head]?.[to - head + 1] ?? 0;
    if (at < oldEnd && to < freshEnd && longest !== undefined && old[at] === fresh[to]) {
      same(at, to);
      at += 1;
      to += 1;
    } else if (at < oldEnd && (to >= freshEnd || down >= right)) {
      lines.push({ sign: '-', text: old[at] ?? '', at, to });
      at += 1;
    } else {
      lines.push({ sign: '+', text: fresh[to] ?? '', at, to });
      to += 1;
    }
  }
  for (let index = 0; index < tail; index += 1) same(oldEnd + index, freshEnd + index);
  return lines;
}

function lengths(old: readonly string[], fresh: readonly string[]): Uint32Array[] | undefined {
  if ((old.length + 1) * (fresh.length + 1) > CELLS_MAX) return undefined;
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(fresh.length + 1));
  for (let at = old.length - 1; at >= 0; at -= 1)
    for (let to = fresh.length - 1; to >= 0; to -= 1) {
      const [row, below] = [table[at], table[at + 1]];
      if (row === undefined || below === undefined) continue;
      row[to] = old[at] === fresh[to] ? (below[to + 1] ?? 0) + 1 : Math.max(below[to] ?? 0, row[to + 1] ?? 0);
    }
  return table;
}

/** Groups of adjacent changes, each with a few unchanged lines around it. */
export function hunksOf(lines: readonly DiffLine[]): DiffLine[][] {
  const found: DiffLine[][] = [];
  let end = 0;
  for (let index = 0; index < lines.length; index += 1) {
    if (lines[index]?.sign === ' ') continue;
    const from = Math.max(end, index - CONTEXT);
    const next = Math.min(lines.length, index + CONTEXT + 1);
    const last = found.at(-1);
    if (last !== undefined && from <= end) last.push(...lines.slice(end, next));
    else found.push(lines.slice(from, next));
    end = Math.max(end, next);
  }
  return found;
}

/** `@@ -1,4 +1,6 @@` */
export function hunkTitle(hunk: readonly DiffLine[]): string {
  const count = (sign: '-' | '+') => hunk.filter((line) => line.sign === ' ' || line.sign === sign).length;
  const [first] = hunk;
  const place = (sign: '-' | '+', start: number) => {
    const lines = count(sign);
    return `${sign}${lines === 0 ? start : start + 1},${lines}`;
  };
  return `@@ ${place('-', first?.at ?? 0)} ${place('+', first?.to ?? 0)} @@`;
}
