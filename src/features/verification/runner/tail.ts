import { legible } from '../../../child-process/legible.ts';
import { limits } from '../../../kernel/limits.ts';

/** Whole secrets have to be there to be masked: some more is kept than will be shown. */
const KEPT_CHARS_MAX = 4 * limits.verification_output_chars_max;

/** The end of what a command writes, however much that is. */
export class Tail {
  #text = '';

  add(text: string): void {
    this.#text += text;
    if (this.#text.length > 2 * KEPT_CHARS_MAX) this.#text = this.#text.slice(-KEPT_CHARS_MAX);
  }

  /** Fit to be stored and shown: bounded, secrets masked, nothing a terminal would obey. */
  text(): string {
    return fitToShow(this.#text);
  }
}

export function fitToShow(text: string): string {
  const masked = legible(text.slice(-KEPT_CHARS_MAX));
  const { verification_output_chars_max: chars_max } = limits;
  return masked.length <= chars_max
    ? masked.toWellFormed()
    : `…${masked.slice(1 - chars_max)}`.toWellFormed();
}
