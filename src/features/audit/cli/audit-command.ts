import { basename, resolve } from 'node:path';
import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { parseMoment } from '../../../kernel/moment.ts';
import {
  archivable,
  countPrunable,
  prune,
  type Retention,
  removeArchived,
} from '../../../ledger/audit/retention.ts';
import type { Seal } from '../../../ledger/audit/seal.ts';
import { seal } from '../../../ledger/audit/sealing.ts';
import { type Verification, verify } from '../../../ledger/audit/verify-log.ts';
import { invalid } from '../../../runtime/answer.ts';
import { progress } from '../../../transports/cli/output/progress.ts';
import type { Terminal } from '../../../transports/cli/output/terminal.ts';
import { counted } from '../../../transports/cli/output/text.ts';
import { type CommonOptions, cliIdentity, withStoreThere } from '../../../transports/cli/program/common.ts';
import { ArchiveWriter, archivedRows, checkArchive } from './archive-file.ts';

export interface AuditVerifyOptions extends CommonOptions {
  readonly expect?: string;
}

export interface PruneOptions extends CommonOptions {
  readonly before?: string;
  readonly dryRun?: boolean;
}

export interface ArchiveOptions extends CommonOptions {
  readonly before?: string;
  readonly to?: string;
}

const DAY_MS = 24 * 3600 * 1000;

export async function sealLog(options: CommonOptions, terminal: Terminal): Promise<JsonObject> {
  return await withStoreThere(options, terminal, async ({ store, project, clock }) => {
    const rows = await seal(store, project, clock, { all: true, onProgress: progress(terminal, 'sealed') });
    const [head] = await store.trail.sealsBefore(project, Number.MAX_SAFE_INTEGER, 1);
    return { success: true, sealed_rows: rows, ...headOf(head) };
  });
}

function headOf(head: Pick<Seal, 'number' | 'hash'> | undefined): JsonObject {
  return { head_number: head?.number ?? 0, head_hash: head?.hash ?? null };
}

export async function verifyLog(options: AuditVerifyOptions, terminal: Terminal): Promise<JsonObject> {
  const { expect } = options;
  if (expect !== undefined && !/^[0-9a-f]{64}$/.test(expect))
    return invalid('expect', 'a head_hash as `cox audit verify` prints it');
  return await withStoreThere(options, terminal, async ({ store, project, clock }) => {
    const onProgress = progress(terminal, 'verified');
    return describe(await verify(store, project, { expect, onProgress }), clock.now_ms());
  });
}

function describe({ fault, seals, rows, removed, head, tail }: Verification, now_ms: number): JsonObject {
  const found: JsonObject = {
    intact: fault === undefined,
    seals,
    sealed_rows: rows,
    removed_rows: removed,
    ...headOf(head),
    unsealed_after: tail.after,
    unsealed_rows: tail.rows,
    ...(tail.oldest_at_ms === undefined
      ? {}
      : { unsealed_seconds: Math.max(0, Math.round((now_ms - tail.oldest_at_ms) / 1000)) }),
  };
  if (fault === undefined) return { success: true, message: covered(rows, tail.rows), ...found };
  const { kind, position, segment, message } = fault;
  return {
    success: false,
    ...found,
    fault: {
      kind,
      ...(position === undefined ? {} : { position }),
      ...(segment === undefined ? {} : { segment }),
    },
    message,
    remedy: 'Keep a copy of the store as it is: it is evidence. Then restore a copy that verifies.',
  };
}

/** What "intact" covers and what it does not, in a sentence. */
function covered(sealed: number, unsealed: number): string {
  const rest = unsealed === 1 ? 'the 1 row after them is' : `the ${unsealed} rows after them are`;
  if (sealed > 0)
    return unsealed === 0
      ? `All ${sealed} rows are sealed, and none was changed, removed or reordered.`
      : `${counted(sealed, 'sealed row')}: none was changed, removed or reordered; ${rest} not sealed yet, so a change of them might not be noticed.`;
  if (unsealed === 0) return 'The log is empty: there is nothing to verify.';
  return `Nothing is sealed yet: of ${counted(unsealed, 'row')} none is damaged, but a careful change might not be noticed. \`cox audit seal\` seals them now.`;
}

export async function pruneLog(options: PruneOptions, terminal: Terminal): Promise<JsonObject> {
  return await retaining(options, terminal, async (retention) => {
    const before = isoTime(retention.before_ms);
    if (options.dryRun === true) {
      const { segments, rows } = await countPrunable(retention);
      return { success: true, dry_run: true, before, segments, removable_rows: rows };
    }
    const { segments, rows } = await prune(retention, progress(terminal, 'removed'));
    return { success: true, before, segments, removed_rows: rows };
  });
}

export async function archiveLog(options: ArchiveOptions, terminal: Terminal): Promise<JsonObject> {
  if (options.before === undefined) return invalid('before', 'a date such as 2026-03-01');
  if (!options.to) return invalid('to', 'a file to write');
  const path = resolve(terminal.cwd, options.to);
  return await retaining(options, terminal, async (retention) => {
    const before = isoTime(retention.before_ms);
    const seals = await writeArchive(retention, path, before, progress(terminal, 'archived'));
    if (seals.length === 0) return { success: true, before, segments: 0, archived_rows: 0 };
    // Only rows that can be read back are removed, and exactly those that were read back.
    const { rows, sha256 } = await checkArchive(path, retention.project);
    await removeRows(
      retention,
      path,
      seals,
      { archive: basename(path), sha256 },
      progress(terminal, 'removed'),
    );
    return { success: true, before, file: path, sha256, segments: seals.length, archived_rows: rows };
  });
}

/** Leaves no file behind when there is nothing to archive, or when writing fails. */
async function writeArchive(
  retention: Retention,
  path: string,
  before: string,
  onProgress: (rows: number) => void,
): Promise<Seal[]> {
  const { project, clock } = retention;
  const about = { project, before, created_at: isoTime(clock.now_ms()) };
  const writer = await ArchiveWriter.create(path, about);
  try {
    const seals: Seal[] = [];
    for await (const { seal: each, rows } of archivable(retention)) {
      await writer.add(rows);
      seals.push(each);
      onProgress(writer.rows);
    }
    if (seals.length > 0) await writer.finish();
    else await writer.abandon();
    return seals;
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

async function removeRows(
  retention: Retention,
  path: string,
  seals: readonly Seal[],
  archive: JsonObject,
  onProgress: (rows: number) => void,
): Promise<void> {
  const rows = archivedRows(path)[Symbol.asyncIterator]();
  let next = await rows.next();
  let removed = 0;
  for (const each of seals) {
    const mine = [];
    for (; next.done !== true && next.value.position <= each.last; next = await rows.next())
      mine.push(next.value);
    await removeArchived(retention, each, mine, archive);
    removed += mine.length;
    onProgress(removed);
  }
}

/** The caller and the age limit, by the store's clock: a wrong clock here must not remove new rows. */
async function retaining(
  options: PruneOptions,
  terminal: Terminal,
  use: (retention: Retention) => Promise<JsonObject>,
): Promise<JsonObject> {
  const who = cliIdentity(options, terminal.env);
  if (!who.ok) return who.refusal;
  return await withStoreThere(options, terminal, async ({ store, project, clock }) => {
    const { now_ms } = await store.find(project, {});
    const days = Number(terminal.env.AUDIT_RETENTION_DAYS || limits.audit_retention_days_default);
    if (!(days >= 2 && days <= 100_000))
      return invalid('AUDIT_RETENTION_DAYS', 'a number of days, at least 2');
    const wanted =
      options.before === undefined ? { at_ms: now_ms - days * DAY_MS } : parseMoment(options.before, now_ms);
    // A position says nothing about age.
    const before_ms = wanted !== undefined && 'at_ms' in wanted ? wanted.at_ms : Number.NaN;
    const latest_ms = now_ms - limits.audit_retention_ms_min;
    if (!(before_ms <= latest_ms))
      return invalid('before', `a date such as 2026-03-01, not after ${isoTime(latest_ms)}`);
    return await use({ store, project, clock, actor: who.actor, before_ms });
  });
}
