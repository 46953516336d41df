/** Everybody in the process group that this process leads; whether anybody was. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): boolean {
  // 0 and 1 would be our own group and everybody.
  if (leader === undefined || leader <= 1) return false;
  try {
    process.kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}
