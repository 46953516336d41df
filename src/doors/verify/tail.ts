import { limits } from '../../kernel/limits.ts';
import { maskSecrets } from '../../policy/guard/secrets.ts';

/** Whole secrets have to be there to be masked: some more is kept than will be shown. */
const KEPT_CHARS_MAX = 4 * limits.verification_output_chars_max;

/** Titles and links (OSC), colours and cursors (CSI), and whatever else no text needs. */
const OBEYED = new RegExp(
  [
    '\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?',
    '\\u001b\\[[0-9;?]*[ -/]*[@-~]',
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]',
  ].join('|'),
  'g',
);

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
  const kept = text.slice(-KEPT_CHARS_MAX).replaceAll('\r\n', '\n');
  // Once where a colour parts a secret from the word before it, once where it only hid that the two halves are one.
  const parted = maskSecrets(kept.replaceAll(OBEYED, '\0'));
  const masked = maskSecrets(parted.replaceAll('\0', ''));
  const { verification_output_chars_max: chars_max } = limits;
  return masked.length <= chars_max
    ? masked.toWellFormed()
    : `…${masked.slice(1 - chars_max)}`.toWellFormed();
}
