// Writes the table of profile × category into docs/guardrails.md; a test says when this has to be run again.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BUILTIN } from '../src/features/trust/builtin.ts';
import { CATEGORIES, type Category } from '../src/features/trust/finding.ts';
import { actionFor, OPERATION_DEFAULTS } from '../src/features/trust/verdict.ts';

const FILE = fileURLToPath(new URL('../docs/guardrails.md', import.meta.url));
const [BEGIN, END] = ['<!-- table: written by scripts/guardrail-table.ts -->', '<!-- end of the table -->'];

/** Operations that are judged otherwise than the rest of their category. */
const SPECIAL: readonly [Category, string][] = [
  ['git_force', 'force_push_main'],
  ...[...OPERATION_DEFAULTS.keys()].map((operation): [Category, string] => [
    operation === 'delete_branch' ? 'branch_deletion' : 'git_force',
    operation,
  ]),
];

function row(category: Category, operation: string, shown: string): string {
  const cells = BUILTIN.map((profile) => {
    const standing = { profile, source: 'default', trust_level: profile.trust_level } as const;
    return actionFor({ category, operation, pattern: '', matched: '', reason: '' }, standing).action;
  });
  return `| ${shown} | ${cells.join(' | ')} |`;
}

export function guardrailTable(): string {
  const names = BUILTIN.map(({ name, trust_level }) => `${name} (${trust_level})`);
  return [
    `| | ${names.join(' | ')} |`,
    `|---|${names.map(() => '---').join('|')}|`,
    ...CATEGORIES.map((category) => row(category, 'any', `\`${category}\``)),
    ...SPECIAL.map(([category, operation]) => row(category, operation, `\`${operation}\``)),
  ].join('\n');
}

if (import.meta.main) {
  const [before = '', rest = ''] = readFileSync(FILE, 'utf8').split(BEGIN);
  const after = rest.slice(rest.indexOf(END));
  writeFileSync(FILE, `${before}${BEGIN}\n${guardrailTable()}\n${after}`);
}
