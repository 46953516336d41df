/**
 * Something of this place that a slice's operations need beyond the store: a folder, a machine's ports, the network's settings. The
 * slice declares it, `open` provides it, and a handler asks its step for it. So the runtime knows no slice by its types.
 */
export interface Service<T> {
  readonly name: string;
  /** What stands in where none is provided; without it, asking for the service is a mistake. */
  readonly fallback?: (() => T) | undefined;
}

export function defineService<T>(name: string, fallback?: () => T): Service<T> {
  return { name, fallback };
}

/** What `open` provides for the calls on one store. */
export interface Services {
  use<T>(service: Service<T>): T;
}
