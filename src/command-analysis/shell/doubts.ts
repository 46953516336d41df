import type { Opaque } from './reading.ts';

const OPAQUE_MAX = 50;

/** What the reader can't follow: in words for locks, and as data for guardrails. */
export class Doubts {
  readonly #unknown = new Set<string>();
  readonly #opaque: Opaque[] = [];

  get unknown(): readonly string[] {
    return [...this.#unknown];
  }

  get opaque(): readonly Opaque[] {
    return this.#opaque;
  }

  say(what: string): void {
    this.#unknown.add(what);
  }

  /** Something would run; `said` is given where it says more than the source. */
  runs(opaque: Opaque, said = opaque.source): void {
    this.say(said);
    this.note(opaque);
  }

  note(opaque: Opaque): void {
    if (this.#opaque.length < OPAQUE_MAX || opaque.kind === 'limit') this.#opaque.push(opaque);
  }

  limit(source: string): void {
    this.runs({ kind: 'limit', source, from: [] });
  }
}
