import type { JsonObject } from '../../src/kernel/json.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { type Circumstances, type Grant, grantOf, insist } from './model.ts';
import { areaNamed, filesOf, share } from './model-areas.ts';

/** One grant of the past or present: on which area, and the position at which it ended or was renewed. */
export interface Holding {
  readonly area: string;
  readonly place: string;
  readonly grant: Grant;
  readonly shared: boolean;
  readonly reason: string | undefined;
  readonly since: number;
  until: number;
}

export interface Standing {
  readonly area: string;
  readonly place: string;
  readonly id: string;
  readonly agent_id: string;
  readonly shared: boolean;
  readonly since_ms: number;
  readonly alive_until_ms: number;
  /** Position of the row that put it there, and of the one that ended or renewed it. */
  readonly since: number;
  until: number;
}

export class LockModel {
  readonly holdings: Holding[] = [];
  readonly line: Standing[] = [];
  readonly #past: { holdings: Holding[]; line: Standing[] } = { holdings: [], line: [] };
  readonly #tokens = new Map<string, { token: number; position: number }>();
  readonly #changed = new Map<string, number>();
  readonly #folders = new Set<string>();

  /** Every grant and every waiter, also those that are over. */
  get everHeld(): readonly Holding[] {
    return [...this.#past.holdings, ...this.holdings];
  }

  get everInLine(): readonly Standing[] {
    return [...this.#past.line, ...this.line];
  }

  /** Of the record that holds the area's locks. */
  changed(area: string): number {
    return this.#changed.get(placeOf(area)) ?? 0;
  }

  held(area: string, agent_id: string): Holding | undefined {
    return this.holdings.find((each) => each.area === area && each.grant.agent_id === agent_id);
  }

  /** The agents that hold the file at that time by any lock, by the log alone. */
  holders(path: string, at_ms: number): Holding[] {
    return this.holdings.filter(({ area, grant }) => filesOf(area).has(path) && grant.expires_at_ms > at_ms);
  }

  apply(event: EventBody, row: LogEntry, circumstances: Circumstances): void {
    if (event.kind === 'lock_folders') {
      const folder = event.data.folder as string;
      if (event.type === 'lock_folder_opened') this.#folders.add(folder);
      else this.#folders.delete(folder);
      return;
    }
    const area = areaNamed((event.data.pattern as string | undefined) ?? event.id);
    switch (event.type) {
      case 'lock_acquired':
        this.#acquired(event, area, row, circumstances);
        break;
      case 'lock_refreshed':
        this.#refreshed(event, area, row, circumstances);
        break;
      case 'lock_released':
        this.#released(event, area, row, circumstances);
        break;
      case 'lock_expired': {
        const { token } = grantOf(event.data);
        const held = this.holdings.find((each) => each.area === area && each.grant.token === token);
        insist(held !== undefined, 'expired what nobody held', area, row.position);
        insist(held.grant.expires_at_ms <= row.at_ms, 'expired early', area, row.position);
        this.#end(held, row);
        break;
      }
      case 'lock_awaited':
        this.#awaited(event, row, circumstances);
        break;
      case 'lock_wait_ended':
        this.#waitEnded(event, area, row);
        break;
      default:
        insist(false, 'an event nobody knows', event.type);
    }
    this.#changed.set(event.id, row.position);
  }

  /** After each row: the list of folders names those that an agent holds or waits for, and no file has two masters. */
  end(row: LogEntry): void {
    const places = [...this.holdings, ...this.line].map(({ place }) => place);
    const folders = new Set(places.filter((place) => place.endsWith('/')));
    insist(
      folders.size === this.#folders.size && [...folders].every((folder) => this.#folders.has(folder)),
      'the list of folders is wrong',
      [...folders],
      [...this.#folders],
      row.position,
    );
    for (const [index, one] of this.holdings.entries())
      for (const other of this.holdings.slice(index + 1)) {
        if (one.grant.agent_id === other.grant.agent_id || (one.shared && other.shared)) continue;
        insist(!share(one.area, other.area), 'two masters', one, other, row.position);
      }
  }

  #acquired(event: EventBody, area: string, row: LogEntry, circumstances: Circumstances): void {
    const grant = grantOf(event.data);
    const before = this.held(area, row.agent_id);
    insist(before === undefined, 'acquired while its last grant was not over', area, row.position);
    this.#tokenGrows(event.id, grant.token, row);
    insist(said(row, area).action === 'acquired', 'the answer says otherwise', row.position);
    this.#inTurn(area, event.data.shared === true, row, circumstances);
    this.#begin(area, grant, event, row);
  }

  /** First come, first served: no waiter before it wants any of it, unless it already had all of it. */
  #inTurn(area: string, shared: boolean, row: LogEntry, { clock_ms }: Circumstances): void {
    const had = this.holdings.some(
      (each) =>
        each.grant.agent_id === row.agent_id &&
        each.grant.expires_at_ms > clock_ms &&
        (!each.shared || shared) &&
        [...filesOf(area)].every((file) => filesOf(each.area).has(file)),
    );
    if (had) return;
    const ended = row.events
      .filter(({ type }) => type === 'lock_wait_ended')
      .map(({ data }) => data.waiter_id);
    const mine = this.line.find((each) => ended.includes(each.id) && each.agent_id === row.agent_id);
    for (const other of this.line) {
      if (other.agent_id === row.agent_id || other.alive_until_ms <= row.at_ms) continue;
      if ((other.shared && shared) || !share(area, other.area)) continue;
      const behind =
        mine !== undefined &&
        (mine.since_ms < other.since_ms || (mine.since_ms === other.since_ms && mine.id < other.id));
      insist(behind, 'overtook somebody in line', area, other, mine, row.position);
    }
  }

  #refreshed(event: EventBody, area: string, row: LogEntry, { clock_ms, meant }: Circumstances): void {
    const before = this.held(area, row.agent_id);
    insist(before !== undefined, 'refreshed by another', area, row.position);
    const { grant: old } = before;
    insist(old.expires_at_ms > clock_ms, 'refreshed after its time', area, row.position, old, clock_ms);
    const token = meant(`lock/${area}`) ?? old.token;
    insist(token === old.token, 'refreshed a grant that is over', area, row.position, token);
    insist(!before.shared || event.data.shared === true, 'a reader became a writer unasked', area);
    const grant = grantOf(event.data);
    if (grant.session_id === old.session_id)
      insist(grant.token === old.token, 'a refresh within a session is the same grant', row.position);
    else this.#tokenGrows(event.id, grant.token, row);
    insist(said(row, area).action === 'refreshed', 'the answer says otherwise', row.position);
    this.#end(before, row);
    this.#begin(area, grant, event, row);
  }

  #released(event: EventBody, area: string, row: LogEntry, { clock_ms, meant }: Circumstances): void {
    const held = this.held(area, row.agent_id);
    insist(held !== undefined, 'released by another', area, row.position);
    const { grant } = held;
    insist(grant.token === event.data.token, 'released another grant', area, row.position);
    const token = meant(`lock/${area}`) ?? grant.token;
    insist(token === grant.token, 'released a grant that is over', area, row.position, token);
    insist(grant.expires_at_ms > clock_ms, 'released after its time', area, row.position);
    this.#end(held, row);
  }

  #awaited(event: EventBody, row: LogEntry, { read_from }: Circumstances): void {
    const data = event.data.waiter as unknown as Omit<Standing, 'area' | 'since'> & { pattern?: string };
    const { id, agent_id, since_ms, alive_until_ms } = data;
    const area = areaNamed(data.pattern ?? event.id);
    insist(row.parameters.on_behalf_of === agent_id, 'put into line by another', row.position);
    insist(alive_until_ms === row.at_ms + 6000, 'alive for another time', row.position, data);
    const before = this.line.find((each) => each.id === id && each.area === area);
    if (before === undefined || before.since_ms !== since_ms)
      for (const other of this.line) {
        if (other.id === id || other.since > read_from || other.alive_until_ms <= row.at_ms) continue;
        if (share(area, other.area))
          insist(since_ms > other.since_ms, 'pushed into the line', data, other, row.position);
      }
    if (before !== undefined) this.#leave(before, row);
    const shared = (data.shared as unknown) === true;
    const about = { area, place: event.id, id, agent_id, shared, since_ms, alive_until_ms };
    this.line.push({ ...about, since: row.position, until: Number.POSITIVE_INFINITY });
  }

  #waitEnded(event: EventBody, area: string, row: LogEntry): void {
    const standing = this.line.find((each) => each.id === event.data.waiter_id && each.area === area);
    insist(standing !== undefined, 'left a line it did not stand in', area, row.position);
    const own = row.agent_id === standing.agent_id || row.parameters.on_behalf_of === standing.agent_id;
    insist(
      own || standing.alive_until_ms <= row.at_ms,
      'thrown out of the line alive',
      standing,
      row.position,
    );
    this.#leave(standing, row);
  }

  /** Grants of one commit may share a token; later ones are higher. */
  #tokenGrows(place: string, token: number, row: LogEntry): void {
    const last = this.#tokens.get(place);
    const grew =
      last === undefined || token > last.token || (token === last.token && row.position === last.position);
    insist(grew, 'a fencing token that did not grow', place, row.position);
    this.#tokens.set(place, { token, position: row.position });
  }

  #begin(area: string, grant: Grant, event: EventBody, row: LogEntry): void {
    const ttl_ms = (row.parameters.ttl_minutes as number) * 60_000;
    insist(
      grant.agent_id === row.agent_id && grant.session_id === row.session_id,
      'granted to another',
      row.position,
    );
    insist(grant.expires_at_ms === row.at_ms + ttl_ms, 'granted for another time', row.position, grant);
    insist(said(row, area).fencing_token === grant.token, 'the answer names another grant', row.position);
    const shared = event.data.shared === true;
    insist(shared === (row.parameters.shared === true), 'granted in another mode', row.position);
    this.holdings.push({
      area,
      place: event.id,
      grant,
      shared,
      reason: event.data.reason as string | undefined,
      since: row.position,
      until: Number.POSITIVE_INFINITY,
    });
  }

  #end(held: Holding, row: LogEntry): void {
    held.until = row.position;
    this.holdings.splice(this.holdings.indexOf(held), 1);
    this.#past.holdings.push(held);
  }

  #leave(standing: Standing, row: LogEntry): void {
    standing.until = row.position;
    this.line.splice(this.line.indexOf(standing), 1);
    this.#past.line.push(standing);
  }
}

/** What a grant's row answered about the area. */
function said(row: LogEntry, area: string): JsonObject {
  const locks = (row.result.locks ?? [row.result]) as JsonObject[];
  return locks.find((lock) => areaNamed(String(lock.file_path)) === area) ?? {};
}

/** Where the locks of an area are kept: patterns with the folder before their first wildcard. */
function placeOf(area: string): string {
  const wild = area.search(/[*?]/);
  if (wild === -1) return area;
  return area.slice(0, area.lastIndexOf('/', wild) + 1) || './';
}
