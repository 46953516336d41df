import type { ShellPlace } from '../../command-analysis/shell/parameters.ts';
import type { Finding } from '../trust/index.ts';
import { shown } from './guard-findings.ts';
import { hazardOf } from './sql/hazards.ts';
import type { Dialect } from './sql/sql-tokens.ts';
import { judgeWords } from './sql/sql-words.ts';

const CHARS_MAX = 256 * 1024;

type Assess = (command: string, place: ShellPlace) => { readonly findings: readonly Finding[] };

/**
 * What SQL would do, determined from its words at once: a hook can't wait until PostgreSQL's parser is
 * loaded.
 */
export function sqlFindings(text: string, dialect: Dialect, place: ShellPlace, assess: Assess): Finding[] {
  const hits =
    text.length > CHARS_MAX
      ? [{ operation: 'check_exhausted', at: 0, end: 0 } as const]
      : judgeWords(text, { dialect });
  return hits.flatMap((hit) => {
    if (hit.operation === 'shell') return assess(hit.shell, place).findings;
    const { category, reason, instead } = hazardOf(hit.operation);
    return {
      category,
      operation: hit.operation,
      pattern: `sql-${hit.operation.replaceAll('_', '-')}`,
      matched: shown(text.slice(hit.at, hit.end)),
      reason,
      ...(instead === undefined ? {} : { instead }),
    };
  });
}
