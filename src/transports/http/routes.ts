import type { Principal } from './authenticate.ts';
import type { Exchange } from './http-exchange.ts';

/** Whether a route uses a key: never looks at one, uses one if present, or requires one. */
export type KeyNeed = 'none' | 'optional' | 'required';

export interface Route {
  /** As documented; `{path}` at the end stands for the rest. */
  readonly path: string;
  readonly methods: readonly string[];
  readonly key: KeyNeed;
  /** Names such as `agent_id` that its query may have as a filter, where they don't say who is asking. */
  readonly filters?: ReadonlySet<string>;
  handle(exchange: Exchange, principal: Principal | undefined): Promise<void> | void;
}

const REST = /\{\w+\}$/;

/** All routes: a path that is not in this table does not exist. */
export class Routes {
  readonly all: readonly Route[];
  readonly #exact: ReadonlyMap<string, Route>;
  readonly #prefixed: readonly (readonly [prefix: string, route: Route])[];

  constructor(routes: readonly Route[]) {
    this.all = routes;
    this.#exact = new Map(routes.filter(({ path }) => !REST.test(path)).map((route) => [route.path, route]));
    this.#prefixed = routes
      .filter(({ path }) => REST.test(path))
      .map((route) => [route.path.replace(REST, ''), route] as const);
    if (this.#exact.size + this.#prefixed.length !== routes.length)
      throw new Error('two routes have one path');
  }

  find(path: string): Route | undefined {
    return this.#exact.get(path) ?? this.#prefixed.find(([prefix]) => path.startsWith(prefix))?.[1];
  }
}
