import type { Place } from '../../command-analysis/shell/analyse-shell.ts';
import type { Finding } from '../trust/index.ts';
import type { Assessment } from './assess.ts';
import { excuse, type RepositoryFacts } from './excuse.ts';

/**
 * What is left of an assessment once the rules have excused what they can and a parser has read the SQL.
 * Without `facts` only well-known names excuse.
 */
export async function concluded(
  assessment: Assessment,
  place: Place,
  facts?: RepositoryFacts,
  switchedOff: Iterable<string> = [],
): Promise<Finding[]> {
  const { findings, sql } = excuse(assessment, place, facts, switchedOff);
  if (sql.length === 0) return [...findings];
  // Where the parser is used, its findings replace those from the words alone.
  const found = findings.filter(({ pattern }) => !pattern.startsWith('sql-'));
  const { assessSql } = await import('./sql/assess-sql.ts');
  for (const { text, dialect } of sql) found.push(...(await assessSql(text, dialect)));
  return found;
}
