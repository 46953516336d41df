import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { systemClock } from '../../src/kernel/clock.ts';
import { rowsForward } from '../../src/ledger/audit/read-forward.ts';
import { EVENT_SCHEMA, type LogEntry } from '../../src/ledger/log.ts';
import { canonical, replay, rowsOf } from '../../src/ledger/replay.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { unplaced } from '../../src/ledger/sync/row-identity.ts';
import type { Source, Target } from '../../src/ledger/sync/survey.ts';
import { type Synced, type SyncOptions, sync } from '../../src/ledger/sync/sync-stores.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';

/** The golden log: a story in which every event there is occurs, with reads and refusals between. */
export const GOLDEN = 'golden';

export function goldenLog(): LogEntry[] {
  const file = new URL(`../golden/schema-${EVENT_SCHEMA}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { log: LogEntry[] }).log;
}

export function sourceOf(log: readonly LogEntry[]): Source {
  return {
    async *rows(last = Number.MAX_SAFE_INTEGER) {
      for (const entry of log) if (entry.position <= last) yield entry;
    },
  };
}

export function sideOf(store: Store, project: string): Target {
  return { store, rows: (last) => rowsForward(store, project, { last }) };
}

export async function syncInto(
  from: Source | Coxswain,
  to: Coxswain,
  more: Partial<SyncOptions> = {},
): Promise<Synced> {
  const { project = to.project } = more;
  const source = 'rows' in from ? from : sideOf(from.store, project);
  const target = sideOf(to.store, project);
  return await sync({ from: source, to: target, project, entities, clock: systemClock, ...more });
}

export async function rowsIn({ store }: Pick<Coxswain, 'store'>, project: string): Promise<LogEntry[]> {
  const rows: LogEntry[] = [];
  for await (const row of rowsOf(store, project)) rows.push(row);
  return rows;
}

/** The same rows in the same order; positions, births and what a store may have swept before are its own. */
export function assertSameRows(
  rows: readonly LogEntry[],
  expected: readonly LogEntry[],
  where: string,
): void {
  const said = (row: LogEntry) => canonical(unplaced({ ...row, anew: undefined }));
  const texts = rows.map(said);
  const first = expected.findIndex((row, index) => said(row) !== texts[index]);
  assert.equal(first, -1, `${where}: row ${first} is ${texts[first]}`);
  assert.equal(rows.length, expected.length, where);
}

export async function foldIn({ store }: Pick<Coxswain, 'store'>, project: string): Promise<string> {
  const { state } = await replay(store, entities, project);
  const records = [...state].map(([key, { version, state: folded }]) => [key, { version, state: folded }]);
  return canonical(Object.fromEntries(records));
}
