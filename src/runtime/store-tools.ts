import type { TableReport } from '../stores/dynamodb/create-table.ts';
import type { TableCare } from '../stores/dynamodb/inspect.ts';
import { layoutOf } from '../stores/files/folder-layout.ts';

/** What a person does to a store beyond opening it, for the transports, which import no store themselves. */
export async function createTable(url: string): Promise<TableReport> {
  return await (await import('../stores/dynamodb/create-table.ts')).createTable(url);
}

export async function inspectTable(url: string): Promise<TableCare> {
  return await (await import('../stores/dynamodb/inspect.ts')).inspectTable(url);
}

/** The folder or file that a store in the file system keeps to itself, and what the names beside it begin with. */
export function ownFiles(store_url: string): { path: string; beside: string } | undefined {
  const [, kind, named = ''] = /^(sqlite|files):(.+)$/s.exec(store_url) ?? [];
  // Beside a database stand `-wal` and `-shm`; a log, its inbox and what follows from it have a folder to themselves.
  if (kind === 'sqlite') return { path: named, beside: '-' };
  if (kind !== 'files') return undefined;
  return { path: layoutOf(named).events, beside: '/' };
}
