// `node scripts/house/picture.ts` draws docs/internals/house.svg from the real imports: which folder of src uses which, and
// which slice uses which. A test says when it has to be drawn anew.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readProject } from '../../test/tidy/files.ts';
import { importsIn } from '../../test/tidy/imports.ts';

export const FILE = fileURLToPath(new URL('../../docs/internals/house.svg', import.meta.url));
const WIDTH = 980;
const BOX = { width: 150, height: 34 };

/** From what everything uses, at the bottom, to what nothing uses, at the top. */
const FLOORS: readonly (readonly string[])[] = [
  ['transports', 'client'],
  ['features'],
  ['runtime'],
  ['stores', 'command-analysis', 'storage', 'child-process'],
  ['ledger'],
  ['kernel'],
];

type Uses = ReadonlyMap<string, ReadonlySet<string>>;

function usesBetween(nameOf: (path: string) => string | undefined): Uses {
  const uses = new Map<string, Set<string>>();
  for (const { from, to } of importsIn(readProject())) {
    const [user, used] = [nameOf(from), nameOf(to)];
    if (user === undefined || used === undefined || user === used) continue;
    uses.set(user, (uses.get(user) ?? new Set()).add(used));
  }
  return uses;
}

function folderOf(path: string): string | undefined {
  const [, folder, ...rest] = path.split('/');
  return rest.length === 0 ? undefined : folder;
}

function sliceOf(path: string): string | undefined {
  const [, folder, slice, ...rest] = path.split('/');
  return folder === 'features' && rest.length > 0 ? slice : undefined;
}

/** A slice stands above all that it uses. */
function rowsOf(slices: readonly string[], uses: Uses): string[][] {
  const depth = new Map<string, number>();
  const depthOf = (slice: string): number => {
    const known = depth.get(slice);
    if (known !== undefined) return known;
    depth.set(slice, 0);
    const below = [...(uses.get(slice) ?? [])].map((each) => depthOf(each) + 1);
    const found = Math.max(0, ...below);
    depth.set(slice, found);
    return found;
  };
  const rows: string[][] = [];
  for (const slice of slices) {
    const row = depthOf(slice);
    rows[row] = [...(rows[row] ?? []), slice];
  }
  return rows.reverse();
}

interface Placed {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

function place(rows: readonly (readonly string[])[], top: number, gap: number): Placed[] {
  return rows.flatMap((row, index) => {
    const step = WIDTH / (row.length + 1);
    return row.map((name, column) => ({ name, x: Math.round(step * (column + 1)), y: top + index * gap }));
  });
}

function drawn(boxes: readonly Placed[], uses: Uses): string[] {
  const at = new Map(boxes.map((box) => [box.name, box]));
  const lines = [...uses].flatMap(([user, targets]) =>
    [...targets].sort().flatMap((target) => {
      const [from, to] = [at.get(user), at.get(target)];
      if (from === undefined || to === undefined) return [];
      const down = from.y < to.y;
      const [start, end] = down
        ? [from.y + BOX.height / 2, to.y - BOX.height / 2]
        : [from.y - BOX.height / 2, to.y + BOX.height / 2];
      return [`<line x1="${from.x}" y1="${start}" x2="${to.x}" y2="${end}"${down ? '' : ' class="up"'}/>`];
    }),
  );
  const rectangles = boxes.map(
    ({ name, x, y }) =>
      `<rect x="${x - BOX.width / 2}" y="${y - BOX.height / 2}" width="${BOX.width}" height="${BOX.height}" rx="5"/><text x="${x}" y="${y + 5}">${name}</text>`,
  );
  return [...lines.sort(), ...rectangles];
}

export function picture(): string {
  const folders = usesBetween(folderOf);
  const floors = place(FLOORS, 70, 74);
  const between = usesBetween(sliceOf);
  const slices = [...new Set([...between].flatMap(([user, used]) => [user, ...used]))].sort();
  const top = 70 + FLOORS.length * 74 + 60;
  const rows = rowsOf(slices, between);
  const height = top + rows.length * 74 + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">
<title>The folders of src and the slices of src/features</title>
<style>
rect { fill: #f4f6f8; stroke: #51606f; } text { text-anchor: middle; fill: #1c2733; } .title { font-weight: bold; font-size: 15px; }
line { stroke: #9aa7b4; marker-end: url(#tip); } line.up { stroke: #c26a4a; stroke-dasharray: 4 3; }
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#9aa7b4"/></marker></defs>
<rect x="0" y="0" width="${WIDTH}" height="${height}" style="fill:#ffffff;stroke:none"/>
<text x="${WIDTH / 2}" y="28" class="title">Folders of src: an arrow points to what is imported</text>
${drawn(floors, folders).join('\n')}
<text x="${WIDTH / 2}" y="${top - 40}" class="title">Slices of src/features</text>
${drawn(place(rows, top, 74), between).join('\n')}
</svg>
`;
}

if (import.meta.main) writeFileSync(FILE, picture());
