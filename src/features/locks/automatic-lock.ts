/** The reason of a lock that was taken for an agent when it began to edit. It ends with the agent's turn. */
export const AUTOMATIC = 'editing (automatic)';

/**
 * The reason of a lock that its holder asks for again. What an agent asked for itself never becomes automatic, or it would be
 * gone with the turn; what was automatic stays with whoever then asks for it.
 */
export function reasonAgain(given: string | undefined, before: string | undefined): string | undefined {
  if (given === AUTOMATIC) return before;
  return given ?? (before === AUTOMATIC ? undefined : before);
}
