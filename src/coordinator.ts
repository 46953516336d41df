import { Grants } from './grants.ts';
import type { Clock } from './kernel/clock.ts';
import { digest, type Ids } from './kernel/ids.ts';
import type { JsonObject } from './kernel/json.ts';
import { normalisePath } from './kernel/path.ts';
import { isRefusal, refuse, StoreFailure } from './kernel/refusal.ts';
import type { Workspace } from './kernel/workspace.ts';
import type { Decision } from './ledger/decision.ts';
import { type Actor, logRow, type Request } from './ledger/log.ts';
import type { Store } from './ledger/store.ts';
import type { AnyOperation, InputSchema, Step } from './operation.ts';
import { summarise } from './summarise.ts';

export interface CoordinatorContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly workspace: Workspace;
  readonly project: string;
}

/** Coxswain's own commits (promoting delayed tasks, releasing dependents) act under this name. */
const HOUSEKEEPER: Actor = { agent_id: 'coxswain', agent_type: 'system', session_id: 'coxswain' };

/** A dynamic import costs 8 µs even when the module is there; each schema is asked for once. */
const schemas = new WeakMap<AnyOperation, InputSchema<object>>();

async function loadSchema(operation: AnyOperation): Promise<InputSchema<object>> {
  const schema = await operation.input();
  schemas.set(operation, schema);
  return schema;
}

/**
 * One client of a door: its identity, its numbered rows, the grants made through it. Two clients never share one.
 */
export class Connection {
  readonly actor: Actor;
  readonly #context: CoordinatorContext;
  readonly #grants = new Grants();
  #sequence = 0;

  constructor(context: CoordinatorContext, actor: Actor) {
    this.#context = context;
    this.actor = actor;
  }

  /** The one loop: every operation of every door goes this way. */
  async perform(operation: AnyOperation, input: unknown): Promise<JsonObject> {
    const { store, clock } = this.#context;
    const started_ms = clock.elapsed_ms();

    // 1. Validate against the declaration; nothing of a bad request reaches a decider.
    const schema = schemas.get(operation) ?? (await loadSchema(operation));
    const parsed = schema.parse(input);
    const { operation_id, ...parameters } = (parsed.ok ? parsed.value : {}) as JsonObject;
    const request = this.#request(operation, parameters, operation_id as string | undefined, started_ms);

    // 2. Handle: compose the decision and hand it to the store, which does steps 3 to 6 (see ledger/optimistic.ts).
    const recorder = { committed: false };
    const answer = parsed.ok
      ? await this.#handle(operation, parsed.value, request, recorder)
      : parsed.refusal;

    // 7. A commit carries its own audit row; a read or a refusal is noted here.
    if (!recorder.committed) {
      const result = isRefusal(answer) ? answer : { success: true };
      store.note(logRow(request, result, [], clock.now_ms(), clock.elapsed_ms()));
    }
    return answer;
  }

  async #handle(
    operation: AnyOperation,
    input: object,
    request: Request,
    recorder: { committed: boolean },
  ): Promise<JsonObject> {
    try {
      return await operation.handle(input, this.#step(request, recorder));
    } catch (error) {
      if (error instanceof StoreFailure) return error.refusal;
      const message = error instanceof Error ? error.message : String(error);
      return refuse('internal_error', `${operation.name} failed: ${message}`);
    }
  }

  #request(
    operation: AnyOperation,
    parameters: JsonObject,
    operation_id: string | undefined,
    started_ms: number,
  ): Request {
    this.#sequence += 1;
    return {
      project: this.#context.project,
      actor: this.actor,
      sequence: this.#sequence,
      operation: operation.name,
      parameters: summarise(parameters),
      // Without one from the caller a fresh id still makes our own retries after a lost answer safe.
      operation_id: operation.mutates ? (operation_id ?? this.#context.ids.uuid()) : '',
      input_digest:
        operation_id === undefined ? '' : digest(`${operation.name} ${JSON.stringify(parameters)}`),
      started_ms,
    };
  }

  #step(request: Request, recorder: { committed: boolean }): Step {
    const { store, clock, ids, workspace, project } = this.#context;
    return {
      caller: this.actor,
      project,
      ids,
      grants: this.#grants,
      path: (input, field) => {
        const normal = normalisePath(input, workspace);
        return normal.ok ? normal.key : refuse(normal.code, normal.message, { field });
      },
      run: async (decision) => {
        const outcome = await store.run(request, decision);
        recorder.committed ||= outcome.status === 'committed' && !outcome.repeated;
        return outcome;
      },
      take: async (taking) => {
        const outcome = await store.take(request, taking);
        recorder.committed ||= outcome.status === 'committed' && !outcome.repeated;
        return outcome;
      },
      now_ms: () => clock.now_ms(),
      find: (needs) => store.find(project, needs),
      chore: (name, decision) => this.#chore(name, decision),
    };
  }

  #chore<A extends JsonObject>(name: string, decision: Decision<A>) {
    const { store, clock, ids, project } = this.#context;
    const parameters = { on_behalf_of: this.actor.agent_id };
    const request: Request = {
      project,
      actor: HOUSEKEEPER,
      sequence: 0,
      operation: name,
      parameters,
      operation_id: ids.uuid(),
      input_digest: '',
      started_ms: clock.elapsed_ms(),
    };
    return store.run(request, decision);
  }
}
