/** Every file there is in the simulated repository; what an area covers is found out by trying each. */
const FILES = [
  'a.ts',
  'b.ts',
  'src',
  'src/c.ts',
  'src/api',
  'src/api/d.ts',
  'src/api/e.css',
  'src/api/v1/g.ts',
  'lib/f.ts',
  'api:users',
];

export const PATHS = ['a.ts', 'b.ts', 'src/c.ts'];
export const AREAS = [
  'src/api/d.ts',
  'src/api/e.css',
  'src/',
  'src/api/',
  './',
  '*.ts',
  'src/*.ts',
  'src/**/*.ts',
  'src/api/?.css',
  'api:users',
];

/** One name for each area, however it is written: `./a.ts` is `a.ts`, `./` is itself. */
export function areaNamed(path: string): string {
  return path === './' ? path : path.replace(/^\.\//, '');
}

const known = new Map<string, ReadonlySet<string>>();

export function filesOf(name: string): ReadonlySet<string> {
  let files = known.get(name);
  if (files === undefined) {
    files = new Set(FILES.filter((file) => isIn(file, name)));
    known.set(name, files);
  }
  return files;
}

function isIn(file: string, area: string): boolean {
  if (file === area) return true;
  if (file.includes(':')) return false;
  if (area === './') return true;
  if (area.endsWith('/')) return file.startsWith(area) || `${file}/` === area;
  return /[*?]/.test(area) && naive(area).test(file);
}

/** Slow and plain: a pattern as a regular expression. */
export function naive(pattern: string): RegExp {
  const names = pattern.split('/').map((name) => {
    if (name === '**') return '**';
    const escaped = name.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
    return escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]');
  });
  let text = names.join('/');
  for (;;) {
    const next = text
      .replace(/^\*\*\//, '(?:.+/)?')
      .replace('/**/', '/(?:.+/)?')
      .replace(/\/\*\*$/, '(?:/.+)?')
      .replace(/^\*\*$/, '.*');
    if (next === text) break;
    text = next;
  }
  return new RegExp(`^${text}$`, 'su');
}

/** Some file is in both. */
export function share(a: string, b: string): boolean {
  const other = filesOf(b);
  return [...filesOf(a)].some((file) => other.has(file));
}

/** They may be refused beside each other: they share a file, or both reach into one folder. */
export function mayClash(a: string, b: string): boolean {
  if (share(a, b)) return true;
  const [x, y] = [folderOf(a), folderOf(b)];
  return x !== undefined && y !== undefined && (x.startsWith(y) || y.startsWith(x));
}

function folderOf(area: string): string | undefined {
  if (area === './') return '';
  if (area.endsWith('/')) return area;
  const wild = area.search(/[*?]/);
  return wild === -1 ? undefined : area.slice(0, area.lastIndexOf('/', wild) + 1);
}
