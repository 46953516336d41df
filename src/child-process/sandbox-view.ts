/**
 * The same as a read-only view, for macOS: `sandbox-exec` takes rules by path, which hold for the command and all that it starts, and can
 * be neither added to nor taken back while it runs. Written by the documentation; no test has run it on macOS.
 */
export interface DeniedPath {
  readonly path: string;
  readonly isFolder: boolean;
}

/** In Apple's sandbox profile language. */
export function sandboxProfile(held: readonly DeniedPath[]): string {
  const denied = held.map(
    ({ path, isFolder }) => `(deny file-write* (${isFolder ? 'subpath' : 'literal'} ${quoted(path)}))\n`,
  );
  return `(version 1)\n(allow default)\n${denied.join('')}`;
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}

export function inSandbox(command: readonly string[], held: readonly DeniedPath[]): string[] {
  return ['sandbox-exec', '-p', sandboxProfile(held), ...command];
}
