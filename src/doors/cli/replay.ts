import { entities } from '../../domain/entities.ts';
import type { LockState } from '../../domain/locks/lock.ts';
import type { TaskState } from '../../domain/queue/task.ts';
import type { Coxswain } from '../../index.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { compareWithLive, type Replayed, replay } from '../../ledger/replay.ts';
import { invalid } from '../answer.ts';
import { type CommonOptions, withStore } from './common.ts';
import type { Terminal } from './terminal.ts';

export async function replayLog(
  options: CommonOptions,
  at: string | undefined,
  terminal: Terminal,
): Promise<JsonObject> {
  const at_ms = at === undefined ? undefined : Date.parse(at);
  if (Number.isNaN(at_ms)) return invalid('at', 'a time such as 2026-03-01T12:00:00Z');
  return await withStore(options, terminal, async (coxswain) =>
    at_ms === undefined ? await compare(coxswain) : await stateAt(coxswain, at_ms),
  );
}

async function compare({ store, project }: Coxswain): Promise<JsonObject> {
  const replayed = await replay(store, entities, project);
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

async function stateAt({ store, project }: Coxswain, at_ms: number): Promise<JsonObject> {
  const replayed = await replay(store, entities, project, { until_ms: at_ms });
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
