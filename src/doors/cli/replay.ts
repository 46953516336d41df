import { resolve } from 'node:path';
import { entities } from '../../domain/entities.ts';
import type { LockState } from '../../domain/locks/lock.ts';
import type { TaskState } from '../../domain/queue/task.ts';
import type { Coxswain } from '../../index.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { LogEntry } from '../../ledger/log.ts';
import { compareWithLive, type Replayed, replay } from '../../ledger/replay.ts';
import { mergeRows } from '../../ledger/trail/merge.ts';
import { archivesOf } from '../../ledger/trail/tombstone.ts';
import { invalid } from '../answer.ts';
import { archivedRows, checkArchive } from './archive-file.ts';
import { type CommonOptions, withStore } from './common.ts';
import type { Terminal } from './terminal.ts';

export interface ReplayOptions extends CommonOptions {
  readonly at?: string;
  readonly archive?: readonly string[];
}

export async function replayLog(options: ReplayOptions, terminal: Terminal): Promise<JsonObject> {
  const { at, archive = [] } = options;
  const at_ms = at === undefined ? undefined : Date.parse(at);
  if (Number.isNaN(at_ms)) return invalid('at', 'a time such as 2026-03-01T12:00:00Z');
  return await withStore(options, terminal, async (coxswain) => {
    const paths = archive.map((path) => resolve(terminal.cwd, path));
    const archived = await openArchives(coxswain, paths);
    if (!archived.ok) return archived.refusal;
    if (at_ms === undefined) return await compare(coxswain, archived.rows);
    return await stateAt(coxswain, at_ms, archived.rows);
  });
}

/** All of them or none: a part of history without another would be a state that never was. */
async function openArchives(
  { store, project }: Coxswain,
  paths: readonly string[],
): Promise<{ ok: true; rows: AsyncIterable<LogEntry> } | { ok: false; refusal: Refusal }> {
  const given = new Set<string>();
  for (const path of paths) given.add((await checkArchive(path, project)).sha256);
  const missing = (await archivesOf(store.trail, project)).filter(({ sha256 }) => !given.has(sha256));
  const [first] = missing;
  if (first === undefined) return { ok: true, rows: mergeRows(paths.map(archivedRows)) };
  const files = missing.map(({ archive }) => archive).join(', ');
  const message = `archive: a part of the log was moved to ${files}; give it with --archive.`;
  return {
    ok: false,
    refusal: refuse('invalid_input', message, { field: 'archive', expected: first.archive }),
  };
}

async function compare({ store, project }: Coxswain, archived: AsyncIterable<LogEntry>): Promise<JsonObject> {
  const replayed = await replay(store, entities, project, { archived });
  const counts = countsOf(replayed);
  const differences = await compareWithLive(store, entities, project, replayed);
  if (differences.length === 0) return { success: true, equal: true, ...counts, differences: [] };
  return {
    success: false,
    equal: false,
    ...counts,
    differences: differences.map((difference) => ({ ...difference })),
    message: `${differences.length} of ${counts.entities} entities differ from what the log says.`,
    remedy:
      'Someone changed the store behind the log. Keep a copy of it, then restore one whose replay is equal.',
  };
}

async function stateAt(
  { store, project }: Coxswain,
  at_ms: number,
  archived: AsyncIterable<LogEntry>,
): Promise<JsonObject> {
  const replayed = await replay(store, entities, project, { until_ms: at_ms, archived });
  const locks: JsonObject[] = [];
  const tasks: Record<string, number> = {};
  for (const record of replayed.state.values()) {
    if (record.kind === 'lock') {
      const { lease, reason } = record.state as LockState;
      if (lease === undefined || lease.expires_at_ms <= at_ms) continue;
      locks.push({
        file_path: record.id,
        locked_by: lease.agent_id,
        expires_at: isoTime(lease.expires_at_ms),
        reason,
      });
    } else if (record.kind === 'task') {
      const { status } = record.state as unknown as TaskState;
      tasks[status] = (tasks[status] ?? 0) + 1;
    }
  }
  return { success: true, at: isoTime(at_ms), ...countsOf(replayed), tasks, locks };
}

function countsOf({ entries, events, state, position }: Replayed) {
  return { rows: entries, events, entities: state.size, position };
}
