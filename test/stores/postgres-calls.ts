import assert from 'node:assert/strict';
import type pg from 'pg';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Decision, Needs } from '../../src/ledger/decision.ts';
import { type LoadedSet, propose } from '../../src/ledger/proposal.ts';
import { canonical } from '../../src/ledger/replay.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { entities } from '../../src/runtime/entities.ts';

export interface Claims {
  readonly project?: string;
  readonly agent_id?: string;
  readonly agent_type?: string;
  readonly session_id?: string;
}

/** One call as PostgREST makes it, made again as any client does when a busy server had no lock for it in time. */
export async function call(...given: Parameters<typeof callOnce>): Promise<JsonObject> {
  for (let tries = 1; ; tries += 1)
    try {
      return await callOnce(...given);
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03' || tries === 20) throw error;
    }
}

/** A transaction of its own, as the token's role, arguments by name. */
async function callOnce(
  client: pg.Client,
  name: string,
  claims: Claims,
  args: JsonObject = {},
  role = 'authenticated',
): Promise<JsonObject> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL ROLE ${role}`);
    await client.query("SELECT set_config('request.jwt.claims', $1, true)", [JSON.stringify(claims)]);
    const given = Object.entries(args).filter(([, value]) => value !== undefined);
    const list = given.map(([field], index) => `${field} => $${index + 1}`).join(', ');
    const values = given.map(([field, value]) =>
      field === 'input_data' || field === 'result' ? JSON.stringify(value) : value,
    );
    const { rows } = await client.query(`SELECT coxswain.${name}(${list}) AS answer`, values);
    await client.query('COMMIT');
    return rows[0]?.answer as JsonObject;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/**
 * The pure decision as the oracle of one call: fed with what the store held before and with the time of the call's row, it
 * must give the same answer, the same events and the same records.
 */
export class CallOracle {
  readonly #store: Store;
  readonly #client: pg.Client;

  constructor(store: Store, client: pg.Client) {
    this.#store = store;
    this.#client = client;
  }

  async compare(
    project: string,
    made: () => Promise<JsonObject>,
    decisionOf: (answer: JsonObject) => Decision<JsonObject>,
    /** Of an answer that lists what was done, the one part that a call for one thing answers. */
    shown: (answer: JsonObject) => JsonObject = (answer) => answer,
  ): Promise<JsonObject> {
    const loaded = await this.#consider(project, decisionOf({}));
    const answer = await made();
    const { rows } = await this.#client.query(
      'SELECT at_ms, events, result FROM coxswain.log WHERE project = $1 ORDER BY position DESC LIMIT 1',
      [project],
    );
    const [row] = rows;
    if (answer.error === 'not_decided_here') {
      assert.deepEqual(row.events, []);
      return answer;
    }
    const verdict = decisionOf(answer).decide(loaded, row.at_ms);
    assert.notEqual(verdict.verdict, 'need');
    if (verdict.verdict === 'refuse') {
      assert.equal(canonical(answer), canonical(verdict.refusal));
      assert.equal(canonical(row.result), canonical(verdict.refusal));
      assert.deepEqual(row.events, []);
    } else if (verdict.verdict === 'commit') {
      assert.equal(canonical(answer), canonical(shown(verdict.answer)));
      assert.equal(canonical(row.result), canonical(verdict.answer));
      assert.equal(canonical(row.events), canonical(verdict.events));
      for (const write of propose(entities, loaded, verdict.events, row.at_ms, undefined).writes) {
        const found = await this.#client.query(
          `SELECT version::float8 AS version, state, sort_key AS sort, group_key AS group FROM coxswain.records
           WHERE project = $1 AND kind = $2 AND id = $3`,
          [project, write.kind, write.id],
        );
        const { version, state, keys } = write;
        const expected = { version, state, sort: keys.sort ?? null, group: keys.group ?? null };
        assert.equal(canonical(found.rows[0]), canonical(expected));
      }
    }
    return answer;
  }

  async #consider(project: string, decision: Decision<JsonObject>): Promise<LoadedSet> {
    let needs: Needs = decision.needs;
    for (;;) {
      const { loaded, now_ms } = await this.#store.find(project, needs);
      const verdict = decision.decide(loaded, now_ms);
      if (verdict.verdict !== 'need') return loaded as LoadedSet;
      const { keys = [], ranges = [] } = verdict.needs;
      needs = { keys: [...(needs.keys ?? []), ...keys], ranges: [...(needs.ranges ?? []), ...ranges] };
    }
  }
}
