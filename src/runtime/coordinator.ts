import { hasPassed } from '../kernel/clock.ts';
import { digest } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import { isRefusal, type Refusal, refuse, StoreFailure } from '../kernel/refusal.ts';
import { answerOf, type Decision } from '../ledger/decision.ts';
import { type Actor, HOUSEKEEPER, logRow, type Request } from '../ledger/log.ts';
import type { Demand } from './access.ts';
import { summarise, withoutSecrets } from './audit-summary.ts';
import { CallStep, ConnectionGrants, type Lender } from './call.ts';
import type { CallOptions, CoordinatorContext, Showing } from './coordinator-context.ts';
import type { CallEnforcer } from './enforcement.ts';
import type {
  AnyCommand,
  AnyOperation,
  Authority,
  InputSchema,
  InternalCommand,
  Parsed,
  Step,
} from './operation.ts';

export { HOUSEKEEPER };

/** A dynamic import costs 8 µs even when the module is there; each schema is asked for once. */
const schemas = new WeakMap<AnyOperation, InputSchema<object>>();

async function loadSchema(operation: AnyOperation): Promise<InputSchema<object>> {
  const schema = await operation.input();
  schemas.set(operation, schema);
  return schema;
}

/** `resumed`: its session had ended, and goes on now. */
type Signed = 'here' | 'resumed' | StoreFailure;

/**
 * One client of a door: its identity, its numbered rows, the grants made through it. Two clients never share one.
 */
export class Connection {
  readonly actor: Actor;
  readonly authority: Authority;
  readonly #context: CoordinatorContext;
  readonly #grants = new ConnectionGrants();
  readonly #showing: Showing;
  /** Undefined: bound by no profile. */
  readonly enforcer: CallEnforcer | undefined;
  readonly #lender: Lender;
  #sequence = 0;
  /** When it last said that its agent is there, and the calls since. */
  #touched_ms: number | undefined;
  #signing: Promise<Signed> | undefined;
  #calls = 0;

  constructor(
    context: CoordinatorContext,
    actor: Actor,
    authority: Authority = 'operator',
    showing: Showing = {},
  ) {
    this.#context = context;
    this.actor = actor;
    this.authority = authority;
    this.#showing = showing;
    const isBound = authority !== 'person' && actor.agent_id !== HOUSEKEEPER.agent_id;
    if (isBound) this.enforcer = context.enforcement?.enforcerOf(actor, authority, showing.door);
    this.#lender = {
      ...{ context, actor, authority, showing, grants: this.#grants, enforcer: this.enforcer },
      stillHere: () => this.#stillHere(),
      chore: (name, decision) => this.chore(name, decision),
    };
  }

  /** The one loop: every operation of every door goes this way. */
  async perform(operation: AnyOperation, input: unknown, options: CallOptions = {}): Promise<JsonObject> {
    const started_ms = this.#context.clock.elapsed_ms();
    // 1. Validate against the declaration; nothing of a bad request reaches a decider.
    const schema = schemas.get(operation) ?? (await loadSchema(operation));
    return await this.#carryOut(operation, schema.parse(input), started_ms, options);
  }

  /**
   * The same for an input that our own code has put together, as the compiler checks it: a hook would start three times as
   * slowly with the schema library. Nothing that came in from outside as a request goes this way.
   */
  async performBuilt<I extends object>(command: InternalCommand<I>, input: I): Promise<JsonObject> {
    const started_ms = this.#context.clock.elapsed_ms();
    return await this.#carryOut(command, { ok: true, value: input }, started_ms, {});
  }

  async #carryOut(
    operation: AnyCommand,
    parsed: Parsed<object>,
    started_ms: number,
    options: CallOptions,
  ): Promise<JsonObject> {
    const { store, clock } = this.#context;
    const request = this.#request(operation, (parsed.ok ? parsed.value : {}) as JsonObject, started_ms);

    // The agent gives its sign of life before the call: from then on nothing of it is freed for its silence.
    const touching = parsed.ok ? this.#touch(operation) : undefined;
    const away = touching && (await touching);

    // 2. Handle: compose the decision and hand it to the store, which does steps 3 to 6 (see ledger/optimistic.ts).
    const demand = this.enforcer?.demand(operation);
    const step = new CallStep(this.#lender, request, options, demand);
    let answer = parsed.ok
      ? (away ?? (await this.#handle(operation, parsed.value, step, demand)))
      : parsed.refusal;

    if (operation.signs !== undefined)
      this.#touched_ms = operation.signs === 'here' ? clock.now_ms() : undefined;
    else if (operation.mutates && this.#isLate && !isRefusal(answer))
      answer = (await this.#awoken()) ?? answer;

    // 7. A commit carries its own audit row; a read or a refusal is noted here.
    if (!step.committed) {
      const result = isRefusal(answer) ? withoutSecrets(answer) : { success: true };
      store.note(logRow(request, result, [], clock.now_ms(), clock.elapsed_ms()));
    }
    return answer;
  }

  /** What became of an agent's own tool gets its row here: it is no operation of ours. */
  noteTool(asked: string, parameters: JsonObject, result: JsonObject): void {
    const { store, clock } = this.#context;
    const request = this.#request({ name: asked, mutates: false }, parameters, clock.elapsed_ms());
    store.note(logRow(request, result, [], clock.now_ms(), clock.elapsed_ms()));
  }

  /** A grant that the same agent got through another process, for a release to mean that one and no later one. */
  adopt(lock: string, fencing_token: number): void {
    this.#grants.remember(`lock/${lock}`, fencing_token);
  }

  /** The same agent has given a sign of life through another process, which need not be repeated. */
  wasHeard(touched_ms: number): void {
    this.#touched_ms = touched_ms;
  }

  /** Still there, though nothing was asked for; only of an agent that has been heard of. */
  async keepAlive(): Promise<void> {
    if (this.#touched_ms !== undefined) await this.#sign(false);
  }

  async #stillHere(): Promise<void> {
    const { presence } = this.#context;
    if (presence !== undefined && this.#touched_ms !== undefined && this.#isSilentFor(presence.touch_ms))
      await this.#sign(true);
  }

  /** What keeps the call from being made: it would only wait for the store once more. A read may well succeed. */
  #touch(operation: AnyCommand): Promise<Refusal | undefined> | undefined {
    const { presence } = this.#context;
    const { shows = 'always' } = this.#showing;
    if (presence === undefined || shows === 'never' || operation.machine) return undefined;
    if (shows === 'writes' && !operation.mutates) return undefined;
    if (operation.signs !== undefined) return undefined;
    this.#calls += 1;
    if (this.#isSilentFor(presence.touch_ms)) {
      const signing = this.#sign(true).finally(() => {
        if (this.#signing === signing) this.#signing = undefined;
      });
      this.#signing = signing;
    }
    // A second call at the same time waits for the sign of the first.
    return this.#signing?.then((signed) =>
      operation.mutates && signed instanceof StoreFailure ? signed.refusal : undefined,
    );
  }

  #isSilentFor(limit_ms: number): boolean {
    return (
      this.#touched_ms === undefined || hasPassed(limit_ms, this.#touched_ms, this.#context.clock.now_ms())
    );
  }

  /** So long after its last sign of life that another process may have ended the session. */
  get #isLate(): boolean {
    const { presence } = this.#context;
    return (
      presence !== undefined && this.#touched_ms !== undefined && this.#isSilentFor(presence.stale_ms / 2)
    );
  }

  /**
   * A process that was stopped amid a call may find its session ended, and what it has just been granted may be freed any
   * moment. It is not told that it has it.
   */
  async #awoken(): Promise<Refusal | undefined> {
    if ((await this.#sign(true)) !== 'resumed') return;
    return refuse('session_ended', 'Your session was ended for its silence while this call was under way.');
  }

  async #sign(active: boolean): Promise<Signed> {
    const { presence, clock } = this.#context;
    if (presence === undefined) return 'here';
    const calls = this.#calls;
    this.#calls = 0;
    this.#touched_ms = clock.now_ms();
    const sign = { active, calls, enough_ms: presence.touch_ms, capabilities: this.#showing.capabilities };
    try {
      const outcome = await this.chore('touch_session', presence.sign(this.actor, sign));
      return outcome.status === 'committed' && outcome.answer.resumed === true ? 'resumed' : 'here';
    } catch (error) {
      // The call itself says what is wrong; the next one tries again.
      this.#touched_ms = undefined;
      this.#calls += calls;
      return error instanceof StoreFailure ? error : 'here';
    }
  }

  async #handle(
    operation: AnyCommand,
    input: object,
    step: Step,
    demand: Demand | undefined,
  ): Promise<JsonObject> {
    if (operation.administers === true && this.authority === 'agent')
      return refuse('forbidden', `${operation.name} is not for agents.`);
    if (operation.personal === true && this.authority !== 'person')
      return refuse('person_required', `${operation.name} is for a person to decide.`);
    try {
      if (demand !== undefined && this.enforcer?.passes(operation, demand) !== true) {
        const refusal = await this.#check(operation, demand);
        if (refusal !== undefined) return refusal;
      }
      const answer = await operation.handle(input, step);
      if (operation.trust !== undefined) this.#context.enforcement?.forget();
      return answer;
    } catch (error) {
      if (error instanceof StoreFailure) return error.refusal;
      const message = error instanceof Error ? error.message : String(error);
      return refuse('internal_error', `${operation.name} failed: ${message}`);
    }
  }

  /** Whether the caller's profile has it at all; and one more call, where that is counted. */
  async #check(operation: AnyCommand, demand: Demand): Promise<Refusal | undefined> {
    try {
      const found = await this.enforcer?.check(operation, demand);
      if (found === undefined || 'success' in found) return found as Refusal | undefined;
      if (found.counts === undefined) return undefined;
      const counted = answerOf(await this.chore('count_call', found.counts));
      return isRefusal(counted) ? counted : undefined;
    } catch (error) {
      // What a machine answers alone needs no store, and so no rules that are kept there.
      if (operation.machine === true && error instanceof StoreFailure) return undefined;
      throw error;
    }
  }

  #request(
    operation: Pick<AnyCommand, 'name' | 'mutates' | 'unlogged'>,
    input: JsonObject,
    started_ms: number,
  ): Request {
    this.#sequence += 1;
    const { operation_id, parameters } = withoutItsName(input);
    return {
      project: this.#context.project,
      actor: this.actor,
      sequence: this.#sequence,
      operation: operation.name,
      parameters: summarise(parameters, operation.unlogged),
      // Without one from the caller a fresh id still makes our own retries after a lost answer safe.
      operation_id: operation.mutates ? (operation_id ?? this.#context.ids.uuid()) : '',
      input_digest:
        operation_id === undefined ? '' : digest(`${operation.name} ${JSON.stringify(parameters)}`),
      started_ms,
    };
  }

  /** What the product does for its caller: a row of its own in the log. */
  chore<A extends JsonObject>(name: string, decision: Decision<A>) {
    const { store, clock, ids, project } = this.#context;
    const request: Request = {
      project,
      actor: HOUSEKEEPER,
      sequence: 0,
      operation: name,
      parameters: { on_behalf_of: this.actor.agent_id },
      operation_id: ids.uuid(),
      input_digest: '',
      started_ms: clock.elapsed_ms(),
    };
    return store.run(request, decision);
  }
}

/** Most calls have none, and need no copy. */
function withoutItsName(input: JsonObject): { operation_id?: string; parameters: JsonObject } {
  if (input.operation_id === undefined) return { parameters: input };
  const { operation_id, ...parameters } = input;
  return { operation_id: operation_id as string, parameters };
}
