import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClaimRules, DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import { claimEvent, claimKey } from '../../../src/features/claims/edge-claim.ts';
import type { Fleet } from '../../../src/features/claims/fleet/fleet.ts';
import type { Feature } from '../../../src/features/claims/routing/feature.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { createIds, systemRandom } from '../../../src/kernel/ids.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { findWorkspace } from '../../../src/kernel/workspace.ts';
import { commit, type Decision } from '../../../src/ledger/decision.ts';
import type { EventBody } from '../../../src/ledger/entity.ts';
import { grant } from '../../../src/ledger/lease.ts';
import type { Store } from '../../../src/ledger/store-port.ts';
import { Connection } from '../../../src/runtime/coordinator.ts';
import { entities } from '../../../src/runtime/entities.ts';
import type { Authority } from '../../../src/runtime/operation.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';
import { placeServices } from '../../../src/runtime/place-services.ts';
import { openStore } from '../../../src/stores/open-store.ts';
import { BucketGround, FolderGround, type Ground, type PlaceKind } from './ground.ts';

export const FEATURE = 'AUTH-1';
export const EDGE = 'design→code';
export const PASSED = [{ name: 'unit', passed: true }];

export type Call = (operation: string, input?: JsonObject) => Promise<JsonObject>;

/** A repository with a fleet's folder in it; drafts and assets are there, or in a bucket. */
export class Yard {
  readonly root: string;
  ground: Ground;
  rules: ClaimRules = DEFAULT_RULES;
  features: Feature[] = [];
  store!: Store;
  /** How far the clock of this place is ahead. */
  ahead_ms = 0;
  readonly #clock: Clock = { ...systemClock, now_ms: () => systemClock.now_ms() + this.ahead_ms };
  readonly #ids = createIds(systemClock, systemRandom);
  readonly #temporary: boolean;

  constructor(root?: string) {
    this.#temporary = root === undefined;
    this.root = root ?? mkdtempSync(join(tmpdir(), 'cox-yard-'));
    this.ground = new FolderGround(this.root);
    mkdirSync(this.fleet, { recursive: true });
  }

  get fleet(): string {
    return join(this.root, '.ai-workspace');
  }

  static async open(root?: string): Promise<Yard> {
    const yard = new Yard(root);
    yard.store = await openStore(`sqlite:${join(yard.root, '.coxswain', 'cox.db')}`, {
      entities,
      clock: yard.#clock,
      random: systemRandom,
      ids: yard.#ids,
    });
    return yard;
  }

  static async on(kind: PlaceKind): Promise<Yard> {
    const yard = await Yard.open();
    if (kind === 's3') yard.ground = await BucketGround.open();
    return yard;
  }

  agent(agent_id: string, authority: Authority = 'operator'): Call {
    const fleet: Fleet = {
      folder: this.fleet,
      assets: this.ground.assets,
      rules: async () => this.rules,
      plan: async () => ({ features: this.features, modules: {}, problems: [] }),
    };
    const context = {
      store: this.store,
      clock: this.#clock,
      ids: this.#ids,
      workspace: findWorkspace(this.root),
      project: 'default',
      services: placeServices({ fleet }),
    };
    const actor = { agent_id, agent_type: 'worker', session_id: `s-${agent_id}` };
    const connection = new Connection(context, actor, authority);
    return async (operation, input = {}) => {
      const declared = operationsByName.get(operation);
      assert.ok(declared !== undefined, operation);
      return await connection.perform(declared, input);
    };
  }

  /** What the operations of claims commit, in as much as promotion and views go by it. */
  async commit(...events: EventBody[]): Promise<void> {
    const keys = events.map(({ kind, id }) => ({ kind, id }));
    await this.#run({ needs: { keys }, decide: () => commit(events, {}) });
  }

  async claim(agent_id: string, feature = FEATURE, edge = EDGE, agent_role = 'full_stack'): Promise<number> {
    const key = claimKey(feature, edge);
    const caller = { agent_id, agent_type: 'worker', session_id: `s-${agent_id}` };
    const answer = await this.#run({
      needs: { keys: [key] },
      decide(loaded, now_ms) {
        const lease = grant(loaded.get(key), caller, 3_600_000, now_ms);
        const data = { granted_to: agent_id, agent_role, source: 'serialiser', lease: { ...lease } };
        return commit([claimEvent({ feature, edge }, 'edge_started', data)], { token: lease.token });
      },
    });
    return Number(answer.token);
  }

  async #run(decision: Decision<JsonObject>): Promise<JsonObject> {
    const request = {
      project: 'default',
      actor: { agent_id: 'given', agent_type: 'test', session_id: 's' },
      sequence: 1,
      operation: 'given',
      parameters: {},
      operation_id: this.#ids.uuid(),
      input_digest: '',
      started_ms: 0,
    };
    const outcome = await this.store.run(request, decision);
    assert.equal(outcome.status, 'committed');
    return outcome.status === 'committed' ? outcome.answer : {};
  }

  write(path: string, text: string): void {
    this.ground.write(path, text);
  }

  draft(agent_id: string, path: string, text: string): void {
    this.ground.draft(agent_id, path, text);
  }

  read(path: string): string | undefined {
    return this.ground.read(path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await this.ground.close();
    if (this.#temporary) rmSync(this.root, { recursive: true, force: true });
  }
}
