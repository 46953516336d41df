/** Signals every process in the group that `leader` leads; returns whether there was one. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): boolean {
  // 0 would mean our own group, and 1 every process.
  if (leader === undefined || leader <= 1) return false;
  try {
    process.kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}
