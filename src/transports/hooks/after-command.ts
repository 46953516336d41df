import { changesetRange, listChangesets } from '../../features/changesets/index.ts';
import { sendMessage } from '../../features/mail/operations.ts';
import { fingerprint } from '../../kernel/fingerprint.ts';
import { limits } from '../../kernel/limits.ts';
import { lockWhatIsFree } from '../shared/automatic-locks.ts';
import { describeHeld, type HeldFile } from '../shared/held-by-others.ts';
import { Neighbours } from '../shared/neighbours.ts';
import { storeFilesOf } from '../shared/store-files.ts';
import type { CommandChanges } from './command-changes.ts';
import type { Order } from './hook-call.ts';
import { FILES_MAX, lookAt, notHeld, TTL_MINUTES } from './hook-locks.ts';
import type { HookPlace } from './hook-place.ts';
import { lockable } from './written-areas.ts';

/** An agent's changeset names a file at most this often (lifecycle.ts). */
export const RECORDED_MS = 5 * 60_000;
const NEIGHBOURS_MAX = 20;
const CHANGESETS_MAX = 50;
const SHOWN_MAX = 5;

export interface Noticed {
  /** The agent's own changes: what it held, and what is locked for it now. */
  readonly files: readonly string[];
  /** For the agent. */
  readonly context?: string | undefined;
}

/**
 * What a command wrote without naming it is locked for its agent like an edit. No system says which process wrote a file: of what
 * another agent holds it is only said that it changed, to both of them.
 */
export async function noticeChanges(
  order: Order,
  changes: readonly CommandChanges[],
  place: HookPlace,
): Promise<Noticed> {
  const files: string[] = [];
  const said: string[] = [];
  for (const each of changes) {
    const noticed = await noticeIn(order, each, place);
    files.push(...noticed.files);
    if (noticed.context !== undefined) said.push(noticed.context);
  }
  return { files, context: said.length === 0 ? undefined : said.join('\n') };
}

async function noticeIn(order: Order, changes: CommandChanges, place: HookPlace): Promise<Noticed> {
  const { coxswain, connection } = place;
  const isStore = storeFilesOf(coxswain.store_url);
  const writes = changes.files.filter((path) => !isStore(path));
  const names = lockable(
    writes.map((path) => ({ path, how: 'file' })),
    coxswain.workspace,
    changes.root,
  ).slice(0, FILES_MAX);
  if (names.length === 0) return { files: [] };
  const missing = await notHeld(place, await lookAt(place, names), false);
  if (missing.length === 0) return { files: names };
  const theirs = await writtenByNeighbours(changes, place);
  const { locked, held, failure } = await lockWhatIsFree(
    connection,
    missing.filter((name) => !theirs.has(name)),
    TTL_MINUTES,
  );
  if (order.locks !== 'warn') await tellHolders(held, changes.root, place);
  const own = new Set([...names.filter((name) => !missing.includes(name)), ...locked]);
  return { files: [...own], context: reportOf(order, { locked, held, failure: failure?.message }, place) };
}

/** What other agents in this work tree have themselves recorded as changed meanwhile. */
async function writtenByNeighbours(
  { root, since_ms }: CommandChanges,
  { coxswain, actor }: HookPlace,
): Promise<ReadonlySet<string>> {
  const neighbours = await new Neighbours(coxswain, new Set([actor.session_id])).here(root);
  if (neighbours.length === 0) return new Set();
  const ranges = neighbours.slice(0, NEIGHBOURS_MAX).map((each) => changesetRange(each, CHANGESETS_MAX));
  const { loaded } = await coxswain.store.find(coxswain.project, { ranges });
  const recent = ranges
    .flatMap((range) => listChangesets(range, loaded))
    .filter(({ created_at }) => Date.parse(created_at as string) >= since_ms - RECORDED_MS);
  return new Set(recent.flatMap(({ files }) => files as string[]));
}

interface Outcome {
  readonly locked: readonly string[];
  readonly held: readonly HeldFile[];
  readonly failure: string | undefined;
}

function reportOf(order: Order, { locked, held, failure }: Outcome, place: HookPlace): string | undefined {
  const parts: string[] = [];
  if (held.length > 0) parts.push(heldReport(held, place.coxswain.clock.now_ms()));
  if (order.locks === 'require' && locked.length > 0)
    parts.push(
      `Your command changed ${listOf(locked)} without a lock, and locks are required here. You hold them until your turn ends; next time call acquire_lock first.`,
    );
  if (failure !== undefined) parts.push(`What your command changed could not be locked: ${failure}`);
  return parts.length === 0 ? undefined : `Coxswain: ${parts.join('\n')}`;
}

function heldReport(held: readonly HeldFile[], now_ms: number): string {
  const holders = [...new Set(held.map(({ held_by }) => held_by))].slice(0, 3).join(', ');
  return [
    'While your command ran, files changed that others hold.',
    describeHeld(held, now_ms),
    `If your command changed them: do not commit that. Tell ${holders} with send_message, wait for the lock (acquire_lock with wait_seconds, MCP server coxswain), and then take the change back with git restore. If ${holders} changed them in this folder, there is nothing to do.`,
  ].join('\n');
}

function listOf(names: readonly string[]): string {
  const more = names.length > SHOWN_MAX ? ` and ${names.length - SHOWN_MAX} more` : '';
  return `${names.slice(0, SHOWN_MAX).join(', ')}${more}`;
}

/** Once for each file: the name of the call says which, and the store answers a repeated one as it did before. */
async function tellHolders(
  held: readonly HeldFile[],
  root: string,
  { connection, actor }: HookPlace,
): Promise<void> {
  const { agent_id, session_id } = actor;
  for (const { held_by, path } of held.slice(0, limits.message_recipients_max)) {
    const body = `While a command of ${agent_id} ran in ${root}, ${path} changed, which you hold. Its command line did not name the file. If you work in that folder, the change may be your own; if not, expect a conflict when ${agent_id} commits.`;
    const operation_id = `changed ${fingerprint([agent_id, session_id, held_by, path].join('\n'))}`;
    const subject = `${path} changed during a command`.slice(0, 200);
    const letter = { to: [held_by], subject, body, operation_id };
    await connection.performBuilt(sendMessage, letter);
  }
}
