// Reads the log as a judge who trusts nothing but the order of its rows.

import { open } from '../../src/index.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import type { Lease } from '../../src/ledger/lease.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { areaNamed, filesOf, share } from '../simulation/model-areas.ts';

export async function readLog(store: Store, project = 'default'): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await store.read(project, entries.at(-1)?.position ?? 0, 1000);
    if (page.entries.length === 0) return entries;
    entries.push(...page.entries);
  }
}

/** The end of the log, for who wants to tell what comes after it. Creates the store, if need be. */
export async function endOfLog(store_url: string): Promise<number> {
  const coxswain = await open({ store: store_url });
  const entries = await readLog(coxswain.store);
  await coxswain.close();
  return entries.at(-1)?.position ?? 0;
}

interface Held {
  lease: Lease | undefined;
  token_max: number;
}

/** Two holders at once, tokens that do not grow, ends of grants that were over: one line each. */
export function leaseFaults(entries: readonly LogEntry[]): string[] {
  const faults: string[] = [];
  const things = new Map<string, Held>();
  for (const entry of entries) {
    for (const event of entry.events) {
      const key = `${event.kind}/${event.id}`;
      const held = things.get(key) ?? { lease: undefined, token_max: 0 };
      things.set(key, held);
      const fault = step(held, event, entry.at_ms);
      if (fault !== undefined) faults.push(`row ${entry.position}: ${event.type} of ${key}: ${fault}`);
    }
  }
  return faults;
}

function step(held: Held, event: EventBody, at_ms: number): string | undefined {
  const before = held.lease;
  const granted = event.data.lease as unknown as Lease;
  switch (event.type) {
    case 'lock_acquired':
    case 'task_claimed': {
      held.lease = granted;
      const grew = granted.token > held.token_max;
      held.token_max = Math.max(held.token_max, granted.token);
      if (before !== undefined) return `${granted.agent_id} got what ${before.agent_id} held`;
      return grew ? undefined : `token ${granted.token} is not above ${held.token_max}`;
    }
    case 'lock_refreshed':
    case 'task_renewed': {
      held.lease = granted;
      held.token_max = Math.max(held.token_max, granted.token);
      if (before === undefined || before.agent_id !== granted.agent_id)
        return 'by someone who did not hold it';
      const same = before.session_id === granted.session_id;
      return same === (before.token === granted.token) ? undefined : 'the token went with the wrong session';
    }
    case 'lock_expired':
      held.lease = undefined;
      return before === undefined || at_ms < before.expires_at_ms ? 'it had not run out' : undefined;
    case 'task_lease_expired':
    case 'task_dead_lettered':
      held.lease = undefined;
      return before === undefined || at_ms < before.expires_at_ms ? 'it had not run out' : undefined;
    case 'lock_released':
    case 'task_completed':
    case 'task_failed':
      held.lease = undefined;
      if (before === undefined || before.token !== event.data.token) return 'not the grant that was held';
      return at_ms >= before.expires_at_ms ? 'the grant had run out' : undefined;
    case 'task_cancelled':
      held.lease = undefined;
      return undefined;
    default:
      return undefined;
  }
}

interface Holding {
  readonly area: string;
  readonly place: string;
  readonly lease: Lease;
  readonly shared: boolean;
}

interface Standing {
  readonly area: string;
  readonly id: string;
  readonly agent_id: string;
  readonly shared: boolean;
  readonly since_ms: number;
  readonly alive_until_ms: number;
}

/** Of locks on areas: two masters of one file, tokens that do not grow, grants past a waiter. */
export function areaFaults(entries: readonly LogEntry[]): string[] {
  const judge = new AreaJudge();
  for (const entry of entries) for (const event of entry.events) judge.step(event, entry);
  return judge.faults;
}

class AreaJudge {
  readonly faults: string[] = [];
  #held: Holding[] = [];
  #line: Standing[] = [];
  readonly #tokens = new Map<string, { token: number; position: number }>();

  step(event: EventBody, row: LogEntry): void {
    const area = areaNamed((event.data.pattern as string | undefined) ?? event.id);
    const lease = event.data.lease as unknown as Lease;
    const fault = (what: string) =>
      this.faults.push(`row ${row.position}: ${event.type} of ${area}: ${what}`);
    const isIt = (token: unknown) => (held: Holding) => held.area === area && held.lease.token === token;
    switch (event.type) {
      case 'lock_acquired':
      case 'lock_refreshed': {
        const shared = event.data.shared === true;
        const mine = (held: Holding) => held.area === area && held.lease.agent_id === lease.agent_id;
        const before = this.#held.find(mine);
        if ((event.type === 'lock_refreshed') !== (before !== undefined)) fault('held before, or not');
        this.#held = this.#held.filter((held) => !mine(held));
        for (const other of this.#held)
          if (other.lease.agent_id !== lease.agent_id && !(other.shared && shared) && share(area, other.area))
            fault(`${lease.agent_id} got what ${other.lease.agent_id} held as ${other.area}`);
        if (event.type === 'lock_acquired') this.#newGrant(event.id, area, lease, shared, row, fault);
        this.#held.push({ area, place: event.id, lease, shared });
        break;
      }
      case 'lock_released': {
        const held = this.#held.find(isIt(event.data.token));
        if (held?.lease.agent_id !== row.agent_id) fault('not the grant that was held');
        else if (row.at_ms >= held.lease.expires_at_ms) fault('the grant had run out');
        this.#held = this.#held.filter((each) => each !== held);
        break;
      }
      case 'lock_expired': {
        const held = this.#held.find(isIt(lease.token));
        if (held === undefined || row.at_ms < held.lease.expires_at_ms) fault('it had not run out');
        this.#held = this.#held.filter((each) => each !== held);
        break;
      }
      case 'lock_awaited': {
        const waiter = event.data.waiter as unknown as Standing & { pattern?: string };
        const name = areaNamed(waiter.pattern ?? event.id);
        this.#line = this.#line.filter(({ id, area }) => id !== waiter.id || area !== name);
        this.#line.push({ ...waiter, area: name, shared: (waiter.shared as unknown) === true });
        break;
      }
      case 'lock_wait_ended': {
        const gone = this.#line.find((each) => each.id === event.data.waiter_id && each.area === area);
        if (gone === undefined) fault('it did not stand in line');
        this.#line = this.#line.filter((each) => each !== gone);
        break;
      }
      default:
    }
  }

  #newGrant(
    place: string,
    area: string,
    lease: Lease,
    shared: boolean,
    row: LogEntry,
    fault: (what: string) => void,
  ): void {
    const last = this.#tokens.get(place);
    const grew = last === undefined || lease.token > last.token || row.position === last.position;
    if (!grew) fault(`token ${lease.token} is not above ${last.token}`);
    this.#tokens.set(place, { token: lease.token, position: row.position });
    const ended = row.events
      .filter(({ type }) => type === 'lock_wait_ended')
      .map(({ data }) => data.waiter_id);
    const mine = this.#line.find(({ id, agent_id }) => ended.includes(id) && agent_id === lease.agent_id);
    const had = this.#held.some(
      (held) =>
        held.lease.agent_id === lease.agent_id &&
        (!held.shared || shared) &&
        [...filesOf(area)].every((file) => filesOf(held.area).has(file)),
    );
    if (had) return;
    for (const other of this.#line) {
      if (other.agent_id === lease.agent_id || other.alive_until_ms <= row.at_ms) continue;
      if ((other.shared && shared) || !share(area, other.area)) continue;
      const behind =
        mine !== undefined &&
        (mine.since_ms < other.since_ms || (mine.since_ms === other.since_ms && mine.id < other.id));
      if (!behind) fault(`overtook ${other.agent_id}, who waited for ${other.area}`);
    }
  }
}
