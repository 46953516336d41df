import { digest } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import type { SessionName } from '../../ledger/log.ts';
import type { Demand } from '../../runtime/access.ts';
import type { ResourceLimits, Standing } from './profile.ts';

/**
 * What one session has used of what its profile limits. Counted in the very commits that use it, so that two
 * processes of one session can't both take the last unit. It ends with the session.
 */
export interface UsageState {
  /** When counting, and with it the time limit, began. Undefined: the session has ended. */
  readonly since_ms?: number | undefined;
  /** Marks of the changed files, each once. Names would make the record ten times as large. */
  readonly files: readonly string[];
  readonly file_reads: number;
  readonly spawned_agents: number;
}

const USAGE = 'usage';
const NOTHING_USED: UsageState = { files: [], file_reads: 0, spawned_agents: 0 };

export function usageKey({ agent_id, session_id }: SessionName): EntityKey {
  return { kind: USAGE, id: `${agent_id}\n${session_id}` };
}

export const usageEntity: EntityType<UsageState> = {
  kind: USAGE,
  evolve(state, event, at_ms) {
    switch (event.type) {
      case 'usage_counted': {
        const before = state?.since_ms === undefined ? { ...NOTHING_USED, since_ms: at_ms } : state;
        const { files = [], file_reads = 0, spawned_agents = 0 } = event.data as Partial<UsageState>;
        return {
          since_ms: before.since_ms,
          files: [...before.files, ...files],
          file_reads: before.file_reads + file_reads,
          spawned_agents: before.spawned_agents + spawned_agents,
        };
      }
      case 'usage_ended':
        return NOTHING_USED;
      default:
        throw new Error(`unknown event of usage: ${event.type}`);
    }
  },
  index: () => ({}),
};

/** The session ends, and with it its usage. No event where nothing was counted. */
export function usageEnded(session: SessionName, state: UsageState | undefined): EventBody[] {
  if (state?.since_ms === undefined) return [];
  return [{ ...usageKey(session), type: 'usage_ended', data: {} }];
}

/**
 * Ten characters of a hash: two files of one session don't collide by chance, and a search for such a pair
 * would take too long.
 */
function markOf(file: string): string {
  return digest(file).slice(0, 10);
}

type Limit =
  | 'max_file_modifications'
  | 'max_file_reads'
  | 'max_execution_time'
  | 'max_api_calls_per_hour'
  | 'max_spawned_agents';

export function overLimit(limit: Limit, allowed: number, message: string, profile: string): Refusal {
  return refuse('resource_limit_exceeded', message, { limit, allowed, profile });
}

/** What the call adds to the count, or why it is too much. */
export function countUsage(
  { profile }: Standing,
  { actor, uses = {}, winds_down }: Demand,
  state: UsageState | undefined,
  now_ms: number,
): EventBody[] | Refusal {
  const most = profile.resource_limits;
  const used = state?.since_ms === undefined ? NOTHING_USED : state;
  if (winds_down !== true) {
    const late = timeIsUp(most, used, now_ms, profile.name);
    if (late !== undefined) return late;
  }
  const files = most.max_file_modifications === undefined ? [] : newFiles(uses.modifies, used);
  const meant = most.max_file_modifications === undefined ? [] : newFiles(uses.means_to_modify, used);
  const { file_reads = 0, spawned_agents = 0 } = uses;
  const sums: [Limit, number | undefined, number, number][] = [
    ['max_file_modifications', most.max_file_modifications, used.files.length, files.length + meant.length],
    ['max_file_reads', most.max_file_reads, used.file_reads, file_reads],
    ['max_spawned_agents', most.max_spawned_agents, used.spawned_agents, spawned_agents],
  ];
  for (const [limit, allowed, before, more] of sums) {
    if (allowed === undefined || more === 0 || before + more <= allowed) continue;
    const message = `Your profile ${profile.name} allows ${allowed} (${limit}); ${before} are used, and this would be ${more} more.`;
    return overLimit(limit, allowed, message, profile.name);
  }
  const counted: JsonObject = {};
  if (files.length > 0) counted.files = files;
  if (most.max_file_reads !== undefined && file_reads > 0) counted.file_reads = file_reads;
  if (most.max_spawned_agents !== undefined && spawned_agents > 0) counted.spawned_agents = spawned_agents;
  // The first commit of a session whose time is limited starts the clock.
  const starts = used.since_ms === undefined && most.max_execution_seconds !== undefined;
  if (!starts && Object.keys(counted).length === 0) return [];
  return [{ ...usageKey(actor), type: 'usage_counted', data: counted }];
}

function newFiles(files: readonly string[] | undefined, used: UsageState): string[] {
  if (files === undefined) return [];
  const known = new Set(used.files);
  return [...new Set(files.map(markOf))].filter((mark) => !known.has(mark));
}

function timeIsUp(
  { max_execution_seconds }: ResourceLimits,
  { since_ms }: UsageState,
  now_ms: number,
  profile: string,
): Refusal | undefined {
  if (max_execution_seconds === undefined || since_ms === undefined) return undefined;
  if (now_ms - since_ms < max_execution_seconds * 1000) return undefined;
  const message = `Your profile ${profile} allows a session ${max_execution_seconds} seconds, and they are over. Hand off and end the session.`;
  return overLimit('max_execution_time', max_execution_seconds, message, profile);
}

/** What has been used, for an agent to see. */
export function describeUsage(state: UsageState | undefined, now_ms: number): JsonObject {
  const { since_ms, files, file_reads, spawned_agents } = state ?? NOTHING_USED;
  return {
    file_modifications: files.length,
    file_reads,
    spawned_agents,
    execution_seconds:
      since_ms === undefined ? 0 : Math.max(0, Math.floor((now_ms - Math.floor(since_ms)) / 1000)),
  };
}

/** The largest file limit that a profile may set: the marks are kept in one record. */
export const FILES_LIMIT_MAX = Math.floor(limits.state_bytes_max / 20);

/** Does nothing itself; the counting happens around it (governed.ts). */
export function reportUsage(): Decision<JsonObject> {
  return { needs: {}, decide: () => commit([], { success: true }) };
}
