/** What hooks keep in the user's state folder: `cox init --undo` removes it. */
export const DELIVERED = 'delivered';
export const FAILURES = 'hooks.log';
/** The older half of the failures. */
export const OLDER_FAILURES = `${FAILURES}.old`;
