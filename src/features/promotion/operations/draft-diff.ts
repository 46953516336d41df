import { maskSecrets } from '../../../command-analysis/secrets.ts';
import { limits } from '../../../kernel/limits.ts';
import { compareLines, hunksOf, hunkTitle, linesOf } from '../../../kernel/line-diff.ts';
import type { Drafted } from './drafted.ts';

/** What a person is shown: the difference of each file, secrets masked, and said where something is left out. */
export function diffOf(drafted: readonly Drafted[]): string {
  const text = maskSecrets(drafted.map(fileDiff).join('\n'));
  const most = limits.promotion_diff_chars_max;
  if (text.length <= most) return text;
  // A person who approves what is not on the screen can at least compare it with what lies there.
  const hashes = drafted.map(({ path, draft_hash }) => `${path} sha256 ${draft_hash}`);
  const left = `… ${text.length - most} more characters are not shown: look at the drafts.`;
  return [text.slice(0, most).toWellFormed(), left, ...hashes].join('\n');
}

function fileDiff({ path, before, contents, draft_hash }: Drafted): string {
  const head = [`--- ${before === undefined ? '/dev/null' : path}`, `+++ ${path}`];
  const [old, fresh] = [before === undefined ? '' : textOf(before), textOf(contents.bytes)];
  if (old === undefined || fresh === undefined)
    return [...head, `binary, ${contents.bytes.length} bytes, sha256 ${draft_hash}`].join('\n');
  const hunks = hunksOf(compareLines(linesOf(old), linesOf(fresh))).flatMap((hunk) => [
    hunkTitle(hunk),
    ...hunk.map(({ sign, text }) => `${sign}${text}`),
  ]);
  return [...head, ...(hunks.length === 0 ? ['only the end of the last line differs'] : hunks)].join('\n');
}

/** Undefined: it is no text, or none that a person could read. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
