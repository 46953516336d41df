/** The promises this version makes, one line each. Every id is cited by a test, and no test cites another. */
export const requirements: Readonly<Record<string, string>> = {
  'LOCK-1': 'an agent acquires an exclusive lock on a file for a time, with a reason; the others are refused',
  'LOCK-2': 'who is refused learns who holds the lock, why, and until when',
  'LOCK-3': 'a lock past its time is free without anyone acting',
  'LOCK-4': 'only the holder releases, and only the grant it holds now',
  'LOCK-5': 'of any number of processes racing for one path exactly one wins, on every store',
  'LOCK-6': 'the holder acquiring again extends the lock and updates its reason',
  'LOCK-7': 'anyone can list who holds what, why, and until when',
  'LOCK-8': 'fencing tokens of a path only grow, across expiry, release and restart; older ones are refused',
  'LOCK-9': 'all spellings of a path are one lock; a path outside the repository is a clear error',
  'LOCK-10':
    'several paths, a folder or a glob in one call, all or nothing, without deadlock; a folder covers what is under it',
  'LOCK-11': 'readers share a lock; waiting for one has a timeout and is first come, first served',
  'QUEUE-1': 'the most urgent claimable task is handed out atomically, the oldest first among equals',
  'QUEUE-2': 'with nothing to claim the answer is a plain "no tasks available"',
  'QUEUE-3': 'completing a task records its outcome and makes its dependents claimable',
  'QUEUE-4': 'submitting a task answers its id',
  'QUEUE-5': 'a task with unmet dependencies is never handed out; unknown ones and cycles are refused',
  'QUEUE-6': 'no task is handed to two agents; equal priority is first in, first out',
  'QUEUE-7':
    'a claim is a lease: a dead agent loses it, attempts are counted, backed off and finally given up',
  'QUEUE-8':
    'idempotent submit, delay, cancel, reprioritise, batches, and files checked before a task is handed out',
  'QUEUE-9':
    'failure of a task decides for its dependents by policy: block, skip or run; a fan-out survives any crash',
  'AUD-1': 'every operation through every door leaves a numbered audit row without silent gaps',
  'AUD-3': 'the audit trail is searched by agent, operation, time and result, page by page',
  'AUD-4':
    'the audit trail is append-only; on SQLite a change is detected; retention (90 days) is the one way out',
  'AUD-5': 'replaying the log gives the live state, at the end and at any past moment',
  'AUD-6':
    'a changed, missing, moved or added row of the sealed part is found and named; the unsealed end is stated',
  'AUD-7': 'retention removes audit rows only; what happened goes to an archive that replay still reads',
  'METRIC-1': 'the nine success metrics with their targets are computed from the log',
  'STORE-1': 'one conformance suite gives the same results on every store',
  'STORE-3': 'an unreachable store is said quickly, and service resumes by itself',
};
