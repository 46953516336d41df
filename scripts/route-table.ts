// Writes the table of routes into docs/http.md; a test says when this has to be run again.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AnyOperation } from '../src/runtime/operation.ts';
import { operations } from '../src/runtime/operation-list.ts';

const FILE = fileURLToPath(new URL('../docs/http.md', import.meta.url));
const [BEGIN, END] = ['<!-- routes: written by scripts/route-table.ts -->', '<!-- end of the routes -->'];

function row({ name, route, aliases = [], summary, personal }: AnyOperation): string {
  const paths = [route, ...aliases].map(({ method, path }) => `\`${method} ${path}\``).join(', ');
  return `| ${paths} | \`${name}\` | ${summary}${personal === true ? ' A person’s key.' : ''} |`;
}

export function routeTable(): string {
  return ['| route | operation | what it does |', '|---|---|---|', ...operations.map(row)].join('\n');
}

if (import.meta.main) {
  const [before = '', rest = ''] = readFileSync(FILE, 'utf8').split(BEGIN);
  writeFileSync(FILE, `${before}${BEGIN}\n${routeTable()}\n${rest.slice(rest.indexOf(END))}`);
}
