import { checkLocks } from '../../features/locks/operations.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { normalisePath } from '../../kernel/path.ts';
import { isRefusal } from '../../kernel/refusal.ts';
import type { Workspace } from '../../kernel/workspace.ts';
import type { Connection } from '../../runtime/coordinator.ts';
import { asPath, lockWhatIsFree } from '../shared/automatic-locks.ts';
import type { LockPolicy } from '../shared/enforcement-policy.ts';
import { type HeldFile, heldByOthers } from '../shared/held-by-others.ts';

/** Renewed while the command runs; not so long that others despair at "until". */
const TTL_MINUTES = 30;
export const RENEW_MS = (TTL_MINUTES / 3) * 60_000;
/** A formatter or a generator may change everything; ten thousand locks help no agent. */
const FILES_MAX = limits.changeset_files_max;

export interface KeeperEvents {
  conflict(held: readonly HeldFile[]): Promise<void>;
  /** Something that its user should know, once. */
  trouble(message: string): void;
}

/** The locks of a command that knows nothing of locks: taken as its files change, renewed while it runs. */
export class LockKeeper {
  readonly #connection: Connection;
  readonly #workspace: Workspace;
  readonly #policy: LockPolicy;
  readonly #events: KeeperEvents;
  readonly #changed = new Set<string>();
  readonly #held = new Set<string>();
  readonly #told = new Set<string>();
  /** What could not be asked for because the store was away. */
  readonly #waiting = new Set<string>();

  constructor(connection: Connection, workspace: Workspace, policy: LockPolicy, events: KeeperEvents) {
    this.#connection = connection;
    this.#workspace = workspace;
    this.#policy = policy;
    this.#events = events;
  }

  /** Everything that changed, by its name in the repository. */
  get changed(): readonly string[] {
    return [...this.#changed];
  }

  async noticed(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const normal = normalisePath(path, this.#workspace);
      // What cannot be locked has no holder either.
      if (!normal.ok) continue;
      if (!this.#changed.has(normal.key) && this.#changed.size >= FILES_MAX) {
        this.#trouble(`More than ${FILES_MAX} files have changed; the others are not locked.`);
        continue;
      }
      this.#changed.add(normal.key);
      this.#waiting.add(normal.key);
    }
    const wanted = [...this.#waiting].filter((key) => !this.#held.has(key));
    this.#waiting.clear();
    if (this.#policy === 'warn') await this.#look(wanted);
    else await this.#take(wanted);
  }

  async renew(): Promise<void> {
    const due = [...this.#held];
    this.#held.clear();
    await this.#take(due);
    await this.noticed([]);
  }

  async #take(keys: readonly string[]): Promise<void> {
    const { locked, held, missed, failure } = await lockWhatIsFree(this.#connection, keys, TTL_MINUTES);
    for (const key of locked) this.#held.add(key);
    for (const key of missed) this.#waiting.add(key);
    if (failure !== undefined) this.#trouble(failure.message);
    await this.#tell(held);
  }

  async #look(keys: readonly string[]): Promise<void> {
    for (const part of inParts(keys)) {
      const answer = await this.#connection.perform(checkLocks, { file_paths: part.map(asPath) });
      if (isRefusal(answer)) this.#trouble(String(answer.message));
      else await this.#tell(heldByOthers(exclusive(answer), this.#connection.actor.agent_id));
    }
  }

  async #tell(conflicts: readonly HeldFile[]): Promise<void> {
    const fresh = conflicts.filter(({ path, held_by }) => !this.#told.has(`${path}\n${held_by}`));
    for (const { path, held_by } of fresh) this.#told.add(`${path}\n${held_by}`);
    if (fresh.length > 0) await this.#events.conflict(fresh);
  }

  #trouble(message: string): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#events.trouble(message);
  }
}

function exclusive(answer: JsonObject): JsonObject {
  return { locks: (answer.locks as JsonObject[]).filter((lock) => lock.shared !== true) };
}

function inParts<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += limits.paths_per_call)
    parts.push(items.slice(start, start + limits.paths_per_call));
  return parts;
}
