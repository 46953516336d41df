/**
 * The reason of a lock that was taken automatically when an agent began to edit. It ends with the agent's
 * turn.
 */
export const AUTOMATIC = 'editing (automatic)';

/**
 * The reason of a lock that its holder requests again. A lock the agent requested itself never becomes
 * automatic, or it would end with the turn; an automatic lock that its holder then requests itself stays.
 */
export function reasonAgain(given: string | undefined, before: string | undefined): string | undefined {
  if (given === AUTOMATIC) return before;
  return given ?? (before === AUTOMATIC ? undefined : before);
}
