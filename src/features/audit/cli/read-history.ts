import { resolve } from 'node:path';
import { MOMENT_FORMS, type Moment, parseMoment } from '../../../kernel/moment.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { mergeRows } from '../../../ledger/audit/merge.ts';
import { lastLabelledBy, rowsForward, type Span } from '../../../ledger/audit/read-forward.ts';
import { archivesOf } from '../../../ledger/audit/tombstone.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { endOfLog } from '../../../transports/cli/narration/follow-log.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { archivedRows, checkArchive } from './archive-file.ts';

/** The log together with its archived parts. */
export interface History {
  rows(span?: Span): AsyncIterable<LogEntry>;
  /** As far as these moments can reach. */
  rowsUpTo(...moments: readonly Moment[]): Promise<AsyncIterable<LogEntry>>;
  /** Archive files that a part of the log was moved to, and that were not given. */
  readonly missing: readonly string[];
  readonly archived: boolean;
}

export async function openHistory(
  { store, project }: Coxswain,
  terminal: Terminal,
  archive: readonly string[] = [],
): Promise<History> {
  const paths = archive.map((path) => resolve(terminal.cwd, path));
  const given = new Set<string>();
  for (const path of paths) given.add((await checkArchive(path, project)).sha256);
  const moved = await archivesOf(store.trail, project);
  const rows = (span: Span = {}) => {
    const live = rowsForward(store, project, span);
    return paths.length === 0 ? live : mergeRows([...paths.map(archivedRows), live]);
  };
  return {
    rows,
    async rowsUpTo(...moments) {
      let last = 0;
      for (const moment of moments) {
        const reached =
          'position' in moment ? moment.position : await lastLabelledBy(store, project, moment.at_ms);
        last = Math.max(last, reached);
      }
      return rows({ last });
    },
    missing: moved.filter(({ sha256 }) => !given.has(sha256)).map((each) => each.archive),
    archived: paths.length > 0,
  };
}

/** All of them or none: history with a part missing would give a state that never existed. */
export function refuseMissing({ missing }: History): Refusal | undefined {
  const [first] = missing;
  if (first === undefined) return undefined;
  const message = `archive: a part of the log was moved to ${missing.join(', ')}; give it with --archive.`;
  return refuse('invalid_input', message, { field: 'archive', expected: first });
}

/** By the store's clock, which dates the rows; a position must be one that the log has reached. */
export async function readMoment(
  coxswain: Coxswain,
  field: string,
  text: string,
): Promise<{ ok: true; moment: Moment } | { ok: false; refusal: Refusal }> {
  const { now_ms } = await coxswain.store.find(coxswain.project, {});
  const moment = parseMoment(text, now_ms);
  if (moment === undefined) return { ok: false, refusal: invalid(field, MOMENT_FORMS) };
  if ('position' in moment) {
    const end = await endOfLog(coxswain);
    if (moment.position > end)
      return { ok: false, refusal: invalid(field, `a position of the log, which ends at #${end}`) };
  }
  return { ok: true, moment };
}
