const TARGETS_MAX = 500;

/** `*** Begin Patch`: the format that Codex edits with. It takes a header that is indented for one as well. */
function agentPatch(text: string): string[] {
  // A line starts behind each kind of line break, so none of them may count as the space before a header as well.
  const header = /^[^\S\n\r\u2028\u2029]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;
  return [...text.matchAll(header)].map(([, path = '']) => path.trim());
}

/** A name in a diff: without its time stamp, quotes and first folders. */
function diffPath(name: string, strip: number): string | undefined {
  const path = name
    .replace(/\t.*$/, '')
    .trim()
    .replace(/^"(.*)"$/, '$1');
  if (path === '/dev/null' || path === '') return undefined;
  const names = path.split('/');
  return names.slice(Math.min(strip, names.length - 1)).join('/');
}

function diffTargets(text: string, strip: number): string[] {
  const found: string[] = [];
  // Two lines that follow each other: a removed line may look like one of them.
  for (const [, from = '', to = ''] of text.matchAll(/^--- (.+)\r?\n\+\+\+ (.+)$/gm)) {
    // A new file has no old one, a deleted one no new.
    const path = diffPath(to, strip) ?? diffPath(from, strip);
    if (path !== undefined) found.push(path);
  }
  for (const [, path = ''] of text.matchAll(/^(?:rename from|rename to|copy to) (.+)$/gm))
    found.push(path.trim());
  // A change of mode, an empty or a binary file: there are no such lines.
  for (const [, path = ''] of text.matchAll(/^diff --git a\/.+ b\/(.+)$/gm)) found.push(path.trim());
  return found;
}

/** The files that a patch changes; `strip` as in `patch -p`. */
export function patchTargets(text: string, strip: number): string[] {
  const found = text.includes('*** Begin Patch') ? agentPatch(text) : diffTargets(text, strip);
  return [...new Set(found)].slice(0, TARGETS_MAX);
}
