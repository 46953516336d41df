import type { EventBody } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { type Circumstances, type Grant, grantOf, insist } from './model.ts';

export interface Lock {
  grant: Grant | undefined;
  reason: string | undefined;
  token_max: number;
  /** Position of the row that last changed it. */
  changed: number;
  /** Every grant there was, and the position at which it ended or was renewed. */
  readonly past: { readonly grant: Grant; until: number }[];
}

export class LockModel {
  readonly all = new Map<string, Lock>();

  of(path: string): Lock {
    let lock = this.all.get(path);
    if (lock === undefined) {
      lock = { grant: undefined, reason: undefined, token_max: 0, changed: 0, past: [] };
      this.all.set(path, lock);
    }
    return lock;
  }

  /** Whoever holds it at that time, by the log alone. */
  holder(path: string, at_ms: number): Grant | undefined {
    const grant = this.all.get(path)?.grant;
    return grant !== undefined && grant.expires_at_ms > at_ms ? grant : undefined;
  }

  apply(event: EventBody, row: LogEntry, circumstances: Circumstances): void {
    const lock = this.of(event.id);
    switch (event.type) {
      case 'lock_acquired':
        this.#acquired(event, lock, row);
        break;
      case 'lock_refreshed':
        this.#refreshed(event, lock, row, circumstances);
        break;
      case 'lock_released': {
        const { grant } = lock;
        insist(grant?.agent_id === row.agent_id, 'released by another', event.id, row.position);
        insist(grant.token === event.data.token, 'released another grant', event.id, row.position);
        const token = circumstances.meant(`lock/${event.id}`) ?? grant.token;
        insist(token === grant.token, 'released a grant that is over', event.id, row.position, token);
        insist(
          grant.expires_at_ms > circumstances.clock_ms,
          'released after its time',
          event.id,
          row.position,
        );
        end(lock, row);
        break;
      }
      case 'lock_expired': {
        const { grant } = lock;
        insist(
          grant !== undefined && grant.expires_at_ms <= row.at_ms,
          'expired early',
          event.id,
          row.position,
        );
        end(lock, row);
        break;
      }
      default:
        insist(false, 'an event nobody knows', event.type);
    }
    lock.changed = row.position;
  }

  #acquired(event: EventBody, lock: Lock, row: LogEntry): void {
    insist(
      lock.grant === undefined,
      'acquired while another grant was not over',
      event.id,
      row.position,
      lock.grant,
    );
    const grant = grantOf(event.data);
    insist(grant.token > lock.token_max, 'a fencing token that did not grow', event.id, row.position);
    insist(row.result.action === 'acquired', 'the answer says otherwise', row.position);
    begin(lock, grant, event, row);
  }

  #refreshed(event: EventBody, lock: Lock, row: LogEntry, { clock_ms, meant }: Circumstances): void {
    const { grant: before } = lock;
    insist(before?.agent_id === row.agent_id, 'refreshed by another', event.id, row.position, before);
    insist(
      before.expires_at_ms > clock_ms,
      'refreshed after its time',
      event.id,
      row.position,
      before,
      clock_ms,
    );
    const token = meant(`lock/${event.id}`) ?? before.token;
    insist(token === before.token, 'refreshed a grant that is over', event.id, row.position, token);
    const grant = grantOf(event.data);
    if (grant.session_id === before.session_id)
      insist(grant.token === before.token, 'a refresh within a session is the same grant', row.position);
    else insist(grant.token > lock.token_max, 'a fencing token that did not grow', event.id, row.position);
    insist(row.result.action === 'refreshed', 'the answer says otherwise', row.position);
    end(lock, row);
    begin(lock, grant, event, row);
  }
}

function begin(lock: Lock, grant: Grant, event: EventBody, row: LogEntry): void {
  const ttl_ms = (row.parameters.ttl_minutes as number) * 60_000;
  insist(
    grant.agent_id === row.agent_id && grant.session_id === row.session_id,
    'granted to another',
    row.position,
  );
  insist(grant.expires_at_ms === row.at_ms + ttl_ms, 'granted for another time', row.position, grant);
  insist(
    row.result.fencing_token === grant.token && row.parameters.file_path !== undefined,
    'the answer names another grant',
    row.position,
  );
  lock.grant = grant;
  lock.reason = event.data.reason as string | undefined;
  lock.token_max = grant.token;
  lock.past.push({ grant, until: Number.POSITIVE_INFINITY });
}

function end(lock: Lock, row: LogEntry): void {
  const last = lock.past.at(-1);
  if (last !== undefined) last.until = row.position;
  lock.grant = undefined;
}
