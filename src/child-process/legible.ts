import { maskSecrets } from '../command-analysis/secrets.ts';

/**
 * Titles and links (OSC), colours and cursor movements (CSI), and other control characters that no text
 * needs.
 */
const OBEYED = new RegExp(
  [
    '\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?',
    '\\u001b\\[[0-9;?]*[ -/]*[@-~]',
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]',
  ].join('|'),
  'g',
);

/** A program's output, made safe to store and show: secrets masked, and no terminal control sequences. */
export function legible(text: string): string {
  const plain = text.replaceAll('\r\n', '\n');
  // Masked twice: once with a colour code separating a secret from the word before it, once with the code
  // removed, in case it split one secret into two halves.
  const parted = maskSecrets(plain.replaceAll(OBEYED, '\0'));
  return maskSecrets(parted.replaceAll('\0', ''));
}
