/** An operation's wire name as a method: `acquire_lock` is `acquireLock`. */
export function methodName(wire_name: string): string {
  return wire_name.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
