/** What hooks keep in the user's state folder: `cox init --undo` removes it. */
export const DELIVERED = 'delivered';
/** When the commands began that have not ended yet. */
export const STARTED = 'commands';
export const FAILURES = 'hooks.log';
/** The older half of the failures. */
export const OLDER_FAILURES = `${FAILURES}.old`;
