import type { Hit } from './hazards.ts';
import type { Token } from './sql-tokens.ts';

const CLIENT_SHELL = /^(?:\\!|\.shell|\.system)\s*(.*)$/is;
const CLIENT_PIPE = /^(?:\\(?:g|gx|o|out|w|write)|\.(?:output|once|import))\s+["']?\|\s*(.*?)["']?\s*$/is;
const CLIENT_PROGRAM = /^\\copy\b.*\b(?:to|from)\s+program\s+'((?:[^']|'')*)'/is;

/** What a command for the client itself (`\! …`, `.shell …`) would do. */
export function judgeClient({ text, at, end }: Token): Hit[] {
  const hits: Hit[] = [];
  const found = CLIENT_SHELL.exec(text) ?? CLIENT_PIPE.exec(text);
  const shell = found?.[1] ?? CLIENT_PROGRAM.exec(text)?.[1]?.replaceAll("''", "'") ?? '';
  if (shell !== '') hits.push({ operation: 'shell', shell, at, end });
  // The rows of the query's result are run as SQL.
  if (/\\gexec\b/.test(text)) hits.push({ operation: 'dynamic_sql', at, end });
  return hits;
}

/** The text that psql stores under a name and inserts for `:name`. */
export function assignedByClient({ kind, text }: Token): string | undefined {
  const value = kind === 'client' ? /^\\set\s+\S+\s+(.*)$/s.exec(text)?.[1] : undefined;
  return value?.replaceAll(/'((?:[^']|'')*)'/g, (_, inner: string) => inner.replaceAll("''", "'"));
}
