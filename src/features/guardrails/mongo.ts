import { maskSecrets } from '../../command-analysis/secrets.ts';
import { lazily } from '../../kernel/lazily.ts';
import type { Finding } from '../trust/index.ts';

const CHARS_MAX = 1024 * 1024;
const FINDINGS_MAX = 50;
const MATCHED_CHARS_MAX = 120;

interface Part {
  readonly kind: 'name' | 'text' | 'mark';
  readonly text: string;
  readonly at: number;
}

/**
 * Names, strings and punctuation of a script; comments and spaces are left out. A pattern `/…/` counts as
 * punctuation.
 */
const PART = lazily(
  () =>
    /\/\/[^\n]*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?|[\p{L}_$][\p{L}\p{N}_$]*|\d[\w.]*|\S/gu,
);

/** Whatever the filter: the object itself is removed. */
const GONE: Readonly<Record<string, string>> = {
  dropDatabase: 'drop_database',
  drop: 'drop_collection',
  dropUser: 'drop_role',
  dropAllUsers: 'drop_role',
  dropRole: 'drop_role',
  dropAllRoles: 'drop_role',
  shutdownServer: 'server_shutdown',
};
/** With an empty filter they affect every document. */
const FILTERED: Readonly<Record<string, string>> = {
  deleteMany: 'unscoped_delete',
  remove: 'unscoped_delete',
  updateMany: 'unscoped_update',
};
/** The same as a command: `runCommand({dropDatabase: 1})`. */
const COMMANDS: Readonly<Record<string, string>> = {
  dropDatabase: 'drop_database',
  drop: 'drop_collection',
  dropUser: 'drop_role',
  dropAllUsersFromDatabase: 'drop_role',
  shutdown: 'server_shutdown',
};
const REASONS: Readonly<Record<string, string>> = {
  drop_database: 'The database goes with everything in it.',
  drop_collection: 'The collection goes with its documents.',
  drop_role: 'Whoever logs in with it is locked out.',
  unscoped_delete: 'With an empty filter all documents go.',
  unscoped_update: 'With an empty filter all documents are changed.',
  server_shutdown: 'The server stops for everybody.',
};

/** A script of the MongoDB shell. */
export function assessMongo(text: string): Finding[] {
  if (text.length > CHARS_MAX) return [finding('check_exhausted', '')];
  const parts = partsOf(text);
  const found: Finding[] = [];
  for (const [index, part] of parts.entries()) {
    const operation = operationAt(parts, index);
    if (operation === undefined || found.length >= FINDINGS_MAX) continue;
    found.push(finding(operation, text.slice(Math.max(0, part.at - 40), part.at + MATCHED_CHARS_MAX)));
  }
  return found;
}

function finding(operation: string, matched: string): Finding {
  const isDelete = operation === 'unscoped_delete';
  return {
    category:
      operation === 'check_exhausted' ? 'unresolved' : isDelete ? 'mass_deletion' : 'database_destruction',
    operation,
    pattern: `mongo-${operation.replaceAll('_', '-')}`,
    matched: maskSecrets(matched).replaceAll(/\s+/g, ' ').trim().slice(0, MATCHED_CHARS_MAX).toWellFormed(),
    reason: REASONS[operation] ?? 'There is more of it than is looked at.',
  };
}

function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  for (const match of text.matchAll(PART())) {
    const [whole] = match;
    if (whole.startsWith('//') || whole.startsWith('/*')) continue;
    const isText = /^["'`]/.test(whole);
    const kind = isText ? 'text' : /^[\p{L}_$]/u.test(whole) ? 'name' : 'mark';
    parts.push({ kind, text: isText ? whole.slice(1).replace(/["'`]$/, '') : whole, at: match.index });
  }
  return parts;
}

/** `.drop(`, `['drop'](`, and `runCommand({ drop: … })`. */
function operationAt(parts: readonly Part[], index: number): string | undefined {
  const name = parts[index]?.text ?? '';
  if (parts[index]?.kind === 'mark') return undefined;
  const before = parts[index - 1]?.text;
  const isComputed = before === '[' && parts[index + 1]?.text === ']';
  const behind = isComputed ? index + 2 : index + 1;
  if ((before === '.' || isComputed) && parts[behind]?.text === '(') {
    if (Object.hasOwn(GONE, name)) return GONE[name];
    return Object.hasOwn(FILTERED, name) && hasEmptyFilter(parts, behind + 1) ? FILTERED[name] : undefined;
  }
  const isCommand = before === '{' && /^(?:runCommand|adminCommand)$/.test(parts[index - 3]?.text ?? '');
  return isCommand && parts[index + 1]?.text === ':' && Object.hasOwn(COMMANDS, name)
    ? COMMANDS[name]
    : undefined;
}

function hasEmptyFilter(parts: readonly Part[], at: number): boolean {
  const first = parts[at]?.text;
  return first === ')' || (first === '{' && parts[at + 1]?.text === '}');
}
