import {
  type BigIntStats,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { compareBytes } from '../../kernel/byte-order.ts';
import { type Clock, isoTime, systemClock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { fileName, folderOf, numberOf } from './inbox-names.ts';
import { type Proposal, proposalOf } from './inbox-proposal.ts';
import { type SetAside, setAside } from './set-aside.ts';

/**
 * `events/inbox/<agent_id>/<moment>_<event_type>.json`, one proposal per file. `events` is always the folder
 * of the log.
 */
export const INBOX = 'inbox';

export type Staging = JsonObject & { readonly agent_id: string; readonly event_type: string };

/** Each file of a process has a later moment than the one before, whatever the clock does. */
let last_us = 0;

const ATTEMPTS = 100;

/**
 * Puts a proposal into its agent's folder, whole or not at all, and returns its path. The name is taken by a
 * link, which never replaces a file that another process of the same agent put there in the same microsecond.
 */
export function stage(events: string, proposal: Staging, clock: Pick<Clock, 'now_ms'> = systemClock): string {
  const folder = join(events, INBOX, folderOf(proposal.agent_id));
  const text = JSON.stringify({ timestamp: isoTime(clock.now_ms()), ...proposal });
  for (let attempt = 1; ; attempt += 1) {
    last_us = Math.max(Math.floor(clock.now_ms() * 1000), last_us + 1);
    const name = fileName(last_us, proposal.event_type);
    const aside = join(folder, `.${name}.${process.pid}${ASIDE}`);
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(aside, text, { flag: 'wx' });
      place(aside, join(folder, name));
      return join(folder, name);
    } catch (error) {
      // The name is taken, or the folder was deleted meanwhile: the next try solves both.
      if (attempt === ATTEMPTS || !['EEXIST', 'ENOENT'].includes(codeOf(error))) throw error;
    }
  }
}

const ASIDE = '.aside';

function place(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (error) {
    if (['EEXIST', 'ENOENT'].includes(codeOf(error))) throw error;
    // This file system has no links. A reader that sees half of the file waits for the rest.
    copyFileSync(aside, path, constants.COPYFILE_EXCL);
  } finally {
    rmSync(aside, { force: true });
  }
}

export interface Staged {
  readonly path: string;
  /** Its folder and name: the caller that waits for its answer knows it by these. */
  readonly proposal_id: string;
  readonly agent_id: string;
  readonly proposal: Proposal;
  readonly modified_ns: bigint;
}

export interface Listing {
  readonly staged: readonly Staged[];
  readonly set_aside: readonly SetAside[];
}

/**
 * The proposals that are in the inbox now, in the order in which they are decided: by agent, then by
 * sequence, then by when the file was last written, then by name. Files that are no proposals are set aside. Any file may vanish at any
 * moment.
 */
export function listProposals(events: string, clock: Pick<Clock, 'now_ms'> = systemClock): Listing {
  const staged: Staged[] = [];
  const set_aside: SetAside[] = [];
  const sort = (found: Found, name: string, folder?: string) => {
    if (found.outcome === 'staged') staged.push(found.staged);
    if (found.outcome !== 'refused') return;
    const from = folder === undefined ? { inbox: INBOX, name } : { inbox: INBOX, folder, name };
    const moved = setAside(events, from, found.reason);
    if (moved !== undefined) set_aside.push(moved);
  };
  const inbox = join(events, INBOX);
  for (const { name: folder, ...entry } of entriesOf(inbox)) {
    if (!entry.isFolder) {
      sort(withoutOwner(join(inbox, folder), clock), folder);
      continue;
    }
    for (const name of firstNames(join(inbox, folder)))
      sort(look(join(inbox, folder), folder, name, clock), name, folder);
  }
  return { staged: staged.sort(inOrder), set_aside };
}

/** As many as one pass decides, in their order as far as it is known without reading them. */
function firstNames(folder: string): string[] {
  const names = entriesOf(folder).map(({ name }) => name);
  if (names.length <= limits.proposals_per_pass) return names;
  const found = names.map((name) => ({
    name,
    number: numberOf(name) ?? Number.POSITIVE_INFINITY,
    modified_ns: lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n,
  }));
  return found
    .sort((a, b) => byNumber(a.number, b.number) || Number(a.modified_ns - b.modified_ns))
    .slice(0, limits.proposals_per_pass)
    .map(({ name }) => name);
}

/**
 * Some writers use one name for all their proposals: a file that was replaced after it was read stays for the
 * next pass.
 */
export function remove({ path, modified_ns }: Pick<Staged, 'path' | 'modified_ns'>): void {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats?.mtimeNs === modified_ns) rmSync(path, { force: true });
}

/** Sorted by name; empty for a folder that is missing or is only a link to somewhere else. */
function entriesOf(folder: string): { readonly name: string; readonly isFolder: boolean }[] {
  try {
    if (!lstatSync(folder).isDirectory()) return [];
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.') || name.endsWith(ASIDE))
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .sort((a, b) => compareBytes(a.name, b.name));
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

type Found =
  | { readonly outcome: 'staged'; readonly staged: Staged }
  | { readonly outcome: 'refused'; readonly reason: string }
  /** Gone, or not yet complete. */
  | { readonly outcome: 'left' };

const LEFT: Found = { outcome: 'left' };
const refused = (reason: string): Found => ({ outcome: 'refused', reason });

function withoutOwner(path: string, clock: Pick<Clock, 'now_ms'>): Found {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined || isFresh(stats, clock)) return LEFT;
  return refused('it lies outside the folder of any agent');
}

function look(folder: string, owner: string, name: string, clock: Pick<Clock, 'now_ms'>): Found {
  const path = join(folder, name);
  try {
    const stats = lstatSync(path, { bigint: true });
    if (name.endsWith(ASIDE)) return leftOver(path, stats, clock);
    if (!stats.isFile()) return refused('it is not a regular file');
    if (!name.endsWith('.json'))
      return isFresh(stats, clock) ? LEFT : refused('its name does not end in .json');
    if (stats.size > limits.proposal_bytes_max)
      return refused(`it is larger than ${limits.proposal_bytes_max} bytes`);
    const proposal = proposalOf(textOf(path), owner);
    if ('problem' in proposal)
      return proposal.incomplete && isFresh(stats, clock) ? LEFT : refused(proposal.problem);
    const sequence = proposal.sequence ?? numberOf(name);
    return {
      outcome: 'staged',
      staged: {
        path,
        proposal_id: `${owner}/${name}`,
        agent_id: proposal.agent_id,
        proposal: { ...proposal, sequence },
        modified_ns: stats.mtimeNs,
      },
    };
  } catch (error) {
    return isGone(error) ? LEFT : refused(`it can't be read (${codeOf(error)})`);
  }
}

/** Half of a file, left by a process that died while it staged it. */
function leftOver(path: string, stats: BigIntStats, clock: Pick<Clock, 'now_ms'>): Found {
  if (stats.isFile() && !isFresh(stats, clock)) rmSync(path, { force: true });
  return LEFT;
}

/** In both directions: a file with a time in the future would otherwise stay for ever. */
function isFresh({ mtimeNs }: BigIntStats, clock: Pick<Clock, 'now_ms'>): boolean {
  return Math.abs(clock.now_ms() - Number(mtimeNs / 1_000_000n)) < limits.proposal_settles_ms;
}

/**
 * The file may have been replaced since it was listed: no link is followed, and nothing without an end is
 * read.
 */
function textOf(path: string): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > limits.proposal_bytes_max) return '';
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function inOrder(a: Staged, b: Staged): number {
  return (
    compareBytes(a.agent_id, b.agent_id) ||
    byNumber(
      a.proposal.sequence ?? Number.POSITIVE_INFINITY,
      b.proposal.sequence ?? Number.POSITIVE_INFINITY,
    ) ||
    Number(a.modified_ns - b.modified_ns) ||
    compareBytes(a.path, b.path)
  );
}

/** Those without a number are last, and equal. */
function byNumber(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
}
