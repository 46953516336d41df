/**
 * What a lock means to another agent: `auto` takes what is free and respects what is held, `require` also insists on a
 * store to ask, `warn` only says so.
 */
export const LOCK_POLICIES = ['auto', 'require', 'warn'] as const;

export type LockPolicy = (typeof LOCK_POLICIES)[number];
