import { maskSecrets } from '../command-analysis/secrets.ts';

/** Titles and links (OSC), colours and cursors (CSI), and whatever else no text needs. */
const OBEYED = new RegExp(
  [
    '\\u001b\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?',
    '\\u001b\\[[0-9;?]*[ -/]*[@-~]',
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]',
  ].join('|'),
  'g',
);

/** What a program wrote, fit to be stored and shown: secrets masked, nothing in it that a terminal would obey. */
export function legible(text: string): string {
  const plain = text.replaceAll('\r\n', '\n');
  // Once where a colour parts a secret from the word before it, once where it only hid that the two halves are one.
  const parted = maskSecrets(plain.replaceAll(OBEYED, '\0'));
  return maskSecrets(parted.replaceAll('\0', ''));
}
