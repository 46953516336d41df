import { type Area, areaName } from '../kernel/area.ts';
import { BoundedMap } from '../kernel/bounded-map.ts';
import { hasWildcard } from '../kernel/glob.ts';
import type { Ids } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import { never } from '../kernel/never.ts';
import { normaliseArea, normalisePath } from '../kernel/path.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import type { AuditQuery } from '../ledger/audit/search.ts';
import { consider } from '../ledger/consider.ts';
import type { Decision, Needs, Outcome, Taking } from '../ledger/decision.ts';
import type { Actor, Request } from '../ledger/log.ts';
import type { Demand, DoorName, Uses } from './access.ts';
import type { CallOptions, CoordinatorContext, Showing } from './coordinator-context.ts';
import type { CallEnforcer } from './enforcement.ts';
import type { AreasInput, Authority, Grants, NamedAreas, PresenceTracker, Step } from './operation.ts';
import type { Service, Services } from './service.ts';
import { type Hints, type Matters, storeHints } from './waiting.ts';

export class ProvidedServices implements Services {
  readonly #provided = new Map<string, unknown>();

  provide<T>(service: Service<T>, provided: T): this {
    this.#provided.set(service.name, provided);
    return this;
  }

  use<T>(service: Service<T>): T {
    if (this.#provided.has(service.name)) return this.#provided.get(service.name) as T;
    if (service.fallback === undefined) throw new Error(`this coordinator was given no ${service.name}`);
    return service.fallback();
  }
}

const noServices = new ProvidedServices();

/** What a connection lends to each of its calls. */
export interface Lender {
  readonly context: CoordinatorContext;
  readonly actor: Actor;
  readonly authority: Authority;
  readonly grants: Grants;
  readonly showing: Showing;
  readonly enforcer: CallEnforcer | undefined;
  stillHere(): Promise<void>;
  chore<A extends JsonObject>(name: string, decision: Decision<A>): Promise<Outcome<A>>;
}

/** One call on its way. Made for every one of them, so it holds little and makes the rest when it is asked for. */
export class CallStep implements Step {
  /** Whether the call has a row of its own in the log by now. */
  committed = false;
  readonly #lender: Lender;
  readonly #request: Request;
  readonly #options: CallOptions;
  readonly #demand: Demand | undefined;
  /** The one thing that is handed on by itself, to what needs nothing else of a step. */
  readonly find = (needs: Needs) => this.#context.store.find(this.project, needs);

  constructor(lender: Lender, request: Request, options: CallOptions, demand: Demand | undefined) {
    this.#lender = lender;
    this.#request = request;
    this.#options = options;
    this.#demand = demand;
  }

  get caller(): Actor {
    return this.#lender.actor;
  }

  get authority(): Authority {
    return this.#lender.authority;
  }

  get presence(): PresenceTracker | undefined {
    return this.#context.presence;
  }

  get door(): DoorName | undefined {
    return this.#lender.showing.door;
  }

  use<T>(service: Service<T>): T {
    return (this.#context.services ?? noServices).use(service);
  }

  async reclaimFromDeadSessions(): Promise<boolean> {
    return (await this.#context.presence?.reclaim(this)) ?? false;
  }

  get unnamed(): boolean {
    return this.#lender.showing.unnamed === true;
  }

  get agent_role(): string | undefined {
    return this.#lender.showing.agent_role;
  }

  get project(): string {
    return this.#context.project;
  }

  get ids(): Ids {
    return this.#context.ids;
  }

  get grants(): Grants {
    return this.#lender.grants;
  }

  get root(): string {
    return this.#context.workspace.root;
  }

  get work_dir(): string | undefined {
    return this.#context.work_dir;
  }

  get signal(): AbortSignal {
    return this.#options.signal ?? never();
  }

  get #context(): CoordinatorContext {
    return this.#lender.context;
  }

  announce(): void {
    this.#context.announce?.();
  }

  path(input: string, field: string): string | Refusal {
    const normal = normalisePath(input, this.#context.workspace);
    return normal.ok ? normal.key : refuse(normal.code, normal.message, { field });
  }

  area(input: string, field: string): Area | Refusal {
    const normal = normaliseArea(input, this.#context.workspace);
    return normal.ok ? normal.area : refuse(normal.code, normal.message, { field });
  }

  async run<A extends JsonObject>(decision: Decision<A>, uses?: Uses): Promise<Outcome<A>> {
    return this.#noted(await this.#context.store.run(this.#request, this.#governed(decision, uses)));
  }

  async take<A extends JsonObject>(taking: Taking<A>): Promise<Outcome<A>> {
    const { store } = this.#context;
    const governed = { ...taking, decision: this.#governed(taking.decision) };
    const asked = this.#demand && this.#lender.enforcer?.mustUseFullDecision(this.#demand);
    const mustUseFullDecision = asked instanceof Promise ? await asked : asked;
    return this.#noted(
      mustUseFullDecision === true
        ? await store.run(this.#request, governed.decision)
        : await store.take(this.#request, governed),
    );
  }

  #noted<A extends JsonObject>(outcome: Outcome<A>): Outcome<A> {
    this.committed ||= outcome.status === 'committed' && !outcome.repeated;
    return outcome;
  }

  #governed<A extends JsonObject>(decision: Decision<A>, uses?: Uses): Decision<A> {
    const { enforcer } = this.#lender;
    if (this.#demand === undefined || enforcer === undefined) return decision;
    return enforcer.govern(decision, uses === undefined ? this.#demand : { ...this.#demand, uses });
  }

  now_ms(): number {
    return this.#context.clock.now_ms();
  }

  elapsed_ms(): number {
    return this.#context.clock.elapsed_ms();
  }

  hints(matters: Matters): Hints {
    const { hints, store, clock, project } = this.#context;
    return hints?.() ?? storeHints(store, clock, project, this.signal, matters);
  }

  consider<A extends JsonObject>(decision: Decision<A>) {
    return consider(this.#context.store, this.project, decision);
  }

  waiting(why: JsonObject): void {
    this.#options.onWaiting?.(why);
  }

  stillHere(): Promise<void> {
    return this.#lender.stillHere();
  }

  async search(query: AuditQuery) {
    const { search } = await import('../ledger/audit/search.ts');
    return await search(this.#context.store.trail, this.project, query);
  }

  async rowsSince(since_ms: number, rows_max: number) {
    const { rowsSince } = await import('../ledger/audit/search.ts');
    return await rowsSince(this.#context.store, this.project, since_ms, rows_max);
  }

  chore<A extends JsonObject>(name: string, decision: Decision<A>): Promise<Outcome<A>> {
    return this.#lender.chore(name, decision);
  }
}

const KEPT_MAX = 10_000;

/**
 * The grants made through one connection: what a release or a completion without a token means. Answers may come again
 * (a repeated operation id), so an older grant never replaces a newer one, and ending an old one forgets only that.
 */
export class ConnectionGrants implements Grants {
  /** A forgotten grant is only less guarded: the holder's name is still checked. */
  readonly #tokens = new BoundedMap<number>(KEPT_MAX);
  readonly #names = new BoundedMap<Area>(KEPT_MAX);

  of(key: string): number | undefined {
    return this.#tokens.get(key);
  }

  remember(key: string, token: number): void {
    this.#tokens.set(key, Math.max(token, this.#tokens.get(key) ?? 0));
  }

  /**
   * What was locked under a name as the caller wrote it. The same name may lead elsewhere by the time it is released: a folder stands
   * there now, or a link.
   */
  lockNamed(name: string): Area | undefined {
    const known = this.#names.get(name);
    if (known !== undefined || hasWildcard(name)) return known;
    return this.#tokens.get(`lock/${name}`) === undefined ? undefined : { place: name };
  }

  /** Most locks have the name they were asked for by. */
  rememberName(name: string, area: Area): void {
    if (area.pattern !== undefined || area.place !== name) this.#names.set(name, area);
  }

  forgetName(name: string): void {
    this.#names.delete(name);
  }

  /** Without a token: whatever was known of it. */
  forget(key: string, token: number | undefined): void {
    const known = this.#tokens.get(key);
    if (known !== undefined && (token === undefined || known <= token)) this.#tokens.delete(key);
  }
}

/** What a call names, without duplicates. `list`: the caller's name for the list, for error messages. */
export function namedAreas(
  { file_path, file_paths }: AreasInput,
  step: Pick<Step, 'area'>,
  list = 'file_paths',
): NamedAreas | Refusal {
  const areas = new Map<string, Area>();
  const names = new Map<string, Area>();
  const single = file_path !== undefined;
  const paths = single ? [file_path] : (file_paths ?? []);
  for (const [index, path] of paths.entries()) {
    const area = step.area(path, single ? 'file_path' : `${list}.${index}`);
    if ('success' in area) return area as Refusal;
    areas.set(areaName(area), area);
    names.set(path, area);
  }
  return { areas: [...areas.values()], single, names };
}
