/** Where a call stands still until the scheduler lets it go on. */
export interface Parked<T> {
  readonly owner: T;
  readonly where: string;
  readonly go: () => void;
}

/**
 * Cooperative and single-threaded: exactly one call runs at a time, from where it stood to where it next stands or
 * ends. Nothing but promises is involved, so the order of everything follows from the order in which calls are let go.
 */
export class Scheduler<T> {
  readonly parked: Parked<T>[] = [];
  #running: T | undefined;
  #yielded: () => void = () => {};

  get running(): T {
    if (this.#running === undefined) throw new Error('no call is running');
    return this.#running;
  }

  /** Runs the call until it parks or ends. */
  async start(owner: T, body: () => Promise<void>): Promise<void> {
    await this.#run(owner, () => {
      body().then(
        () => this.#yielded(),
        (error: unknown) => {
          this.#failure = error;
          this.#yielded();
        },
      );
    });
  }

  async resume(parked: Parked<T>): Promise<void> {
    this.drop(parked);
    await this.#run(parked.owner, parked.go);
  }

  /** The process of this call died: it never goes on. */
  drop(parked: Parked<T>): void {
    this.parked.splice(this.parked.indexOf(parked), 1);
  }

  /** Called from within a running call. */
  park(where: string): Promise<void> {
    const owner = this.running;
    return new Promise((resolve) => {
      this.parked.push({ owner, where, go: resolve });
      this.#yielded();
    });
  }

  #failure: unknown;

  async #run(owner: T, go: () => void): Promise<void> {
    this.#running = owner;
    await new Promise<void>((yielded) => {
      this.#yielded = yielded;
      go();
    });
    this.#running = undefined;
    if (this.#failure !== undefined) throw this.#failure;
  }
}
