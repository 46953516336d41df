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
  'LOCK-12':
    'an edit of a file that another agent holds is denied before it happens, and so is a commit of it; what is free is locked by editing it',
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
  'SESS-1': 'an agent registers its session: what it can do, what it works on, since when',
  'SESS-2': 'agents are found by capability and status; disconnected ones only when asked for',
  'SESS-3': 'a heartbeat answers with the session, or says that the store is not there',
  'SESS-4':
    'sessions silent for too long are ended and what they held is freed; whoever comes back keeps what it is told it has',
  'SESS-5': 'changesets are tied to the session that made them',
  'GUARD-10': 'the seed’s named guardrails work, such as test_required: no completion without a passed test',
  'VER-1':
    'verification policies: name, tier, executor, patterns, excluded patterns, environment, time-out, approval',
  'VER-2': 'a changeset goes to the tiers of the policies its files match; results are kept',
  'VER-3': 'tier 0: linting and type checking in a clean work tree of the commit',
  'VER-4': 'tier 1: a GitHub Actions workflow is dispatched, its outcome kept when it completes',
  'VER-5': 'tier 2: a local runner in tmux, or an E2B sandbox',
  'VER-6': 'tier 3: a system run; tier 4: a person decides',
  'VER-7': 'POST /webhook/github: signature checked, affected files found and routed',
  'VER-8': 'trust 3 and above skips tiers 0 and 1; without trust every change goes to a person',
  'VER-9':
    'default policies ship: migrations to tier 3, security-sensitive files to tier 4; changes come from hooks, pushes, commits or agents',
  'SESS-6': 'the first operation of an unknown agent creates its session; quiet ones turn idle',
  'HAND-1': 'a hand-off is durable, with agent and session',
  'HAND-2': 'hand-offs are read newest first',
  'HAND-3': 'a new session finds the latest hand-off on its start',
  'HOOK-1':
    'a session is registered by its hook and finds the last hand-off; its end, also by a crash, frees its locks and leaves one',
  'HOOK-2':
    'a hook that fails never stops its agent and says so in a local log; a lock check without a store follows the policy',
  'TEAM-1': 'teams.yaml: members with role, capabilities and description, and rules',
  'TEAM-2': 'a file with mistakes yields every one of them, with field, reason and line',
  'TEAM-3': 'the rules have effect in get_work, locks and mail',
  'HOOK-3':
    'one command wires Claude Code, Codex and Gemini CLI, shows the diff, is idempotent and has an undo',
  'MAIL-1': 'agents write to each other: by name, to a capability or a team, in threads, acknowledged',
  'PORT-1':
    'a session gets four ports of its own on this machine, a compose project name and the variables to export',
  'PORT-2': 'asking again keeps the block and renews it; when none is left nobody else loses anything',
  'PORT-3': 'a block past its time, or released, is free; releasing twice does no harm',
  'PORT-4':
    'base, range, time and number of sessions come from the environment; wrong ones are named at start',
  'PORT-5': 'no two processes of the machine get the same ports, through any door, with or without a store',
  'PORT-6': 'the validate-feature skill takes every port from the environment',
  'PORT-7': 'the compose file takes ports and project name from the environment: two stacks run side by side',
  'CLI-1':
    'every operation from a terminal, JSON everywhere, help with examples, completion, exit codes that mean something',
  'NET-1': 'allow and deny lists with wildcards for each profile, and default categories by trust level',
  'NET-2': 'every attempt is logged: what is allowed as such, what is blocked with an alert',
  'NET-3': 'denied by default: for cloud agents, and where network_default says so',
  'NET-4': 'a forward proxy applies the policy to what an agent really does',
  'NET-5':
    'the named policies ship; deny beats allow, a policy beats the categories, what is required always passes',
  'AUD-1': 'every operation through every door leaves a numbered audit row without silent gaps',
  'AUD-2':
    'a violation is recorded with agent, operation, pattern and context, and counted; too many lower the trust',
  'GUARD-1':
    'every category of danger has its default: block, warn, review, verification; cloud agents are blocked',
  'GUARD-2': 'a force push is blocked with the seed’s answer and logged',
  'GUARD-3': 'an elevated operation goes ahead from trust 3 on, flagged, and people are told',
  'GUARD-5': 'a credential file is for a person to review, whatever the trust',
  'GUARD-9':
    'category default, then the profile’s guardrails, then what it blocks and elevates; the table is tested',
  'APPR-1':
    'one queue for all that waits for a person: list, show, approve, deny, expire; only a person decides',
  'APPR-2': 'an approval is for exactly what was shown, and permits it once',
  'APPR-3': 'a new item is told to the configured channels, once',
  'AUD-3': 'the audit trail is searched by agent, operation, time and result, page by page',
  'AUD-4':
    'the audit trail is append-only; on SQLite a change is detected; retention (90 days) is the one way out',
  'CLAIM-8':
    'agents draft apart; promotion to the assets needs the claim, all evaluators and, where stated, a person; a crash loses drafts only',
  'CLAIM-13':
    'on convergence feature files and views are rewritten from the log, and keep a person’s comments',
  'AUD-5': 'replaying the log gives the live state, at the end and at any past moment',
  'HTTP-1': 'every operation has an HTTP endpoint, and a served OpenAPI document describes them all',
  'HTTP-2': 'a request needs an API key (401), and a key bound to an agent is no good for another (403)',
  'HTTP-3': 'health and the status of a lock can be looked at without a key',
  'HTTP-4': 'the API is configured by options or the environment, and made by createCoordinationApi()',
  'HTTP-5': 'bad input is answered 422 with the field and the reason',
  'HTTP-6': 'nothing but health, lock and port status and the API’s description is there without a key',
  'MCP-1':
    'every operation is an MCP tool under its name, over stdio and streamable HTTP, for 2025 and 2026 clients',
  'MCP-2': 'MCP resources show locks, work, hand-offs and audit; subscriptions fire for what anybody commits',
  'MCP-3': 'each MCP client is its own agent; no call can name another, no answer reaches another client',
  'AUD-6':
    'a changed, missing, moved or added row of the sealed part is found and named; the unsealed end is stated',
  'AUD-7': 'retention removes audit rows only; what happened goes to an archive that replay still reads',
  'METRIC-1': 'the nine success metrics with their targets are computed from the log',
  'PROF-1':
    'profiles with operations, trust and limits, for an agent or a type; the seed’s five and a default for each type ship',
  'PROF-2': 'what a profile does not allow is refused as operation_not_permitted',
  'PROF-3':
    'a limit that is used up is refused by its name, counted in the commits themselves: files, reads, time, calls',
  'PROF-4': 'what takes more trust is refused as insufficient_trust_level',
  'PROF-5':
    'one vocabulary of permissions for operations and tools; blocked beats allowed; engines rule alike',
  'PROF-6': 'every field of the seed’s profiles is kept and enforced, with its durations and unlimited',
  'PROF-7': 'each level of trust may what the seed’s table says, up to changing the rules at level 4',
  'KERN-1':
    'inside a guarded run or session the kernel keeps other agents’ held files read-only, for any program',
  'HOOK-4':
    'cox run: any command has a session, a heartbeat, locks as its files change, checked commits and an orderly end',
  'GUARD-4':
    'a completion whose changes are dangerous is refused with each match: by diff, files or commit, else by the session’s changesets',
  'GUARD-6':
    'quoting, wrapping, variables, substitution, here-documents, encoding and one-liners hide no destructive command; mentioning one is no offence',
  'GUARD-7':
    'more than 99 % of a corpus of destructive operations are blocked, less than 1 % of the legitimate ones',
  'CLAIM-1':
    'a claim on a feature and an edge is granted as edge_started or rejected with holder, reason and what to take instead; the proposal stands in no log',
  'CLAIM-2':
    'of any number that race for one feature and edge exactly one holds it; other pairs never contend',
  'CLAIM-3':
    'a convergence frees the claim in the same step, a release when it is given up; only its holder does either',
  'CLAIM-4':
    'a silent claim is said to be stale once, shown and notified, and stays until a person decides; a hard end is an event with its cause',
  'CLAIM-5':
    'converging outside the role’s edges waits for a person; a weaker rule comes only from the file and is shown, and no rule lifts a person’s gate',
  'CLAIM-6':
    'alone there is no claim step and the same log; a second agent is refused or makes it many, with an event',
  'CLAIM-7':
    'routing by shared modules: orthogonal features side by side, others warned about and in order, the nearest to done first',
  'CLAIM-9':
    'in files, agents stage proposals and one writer decides them in a fixed order; a lost inbox loses only what was not decided',
  'CLAIM-10':
    'on DynamoDB a first claim is one conditional request under project and CLAIM#feature#edge, with a ttl; pairs never contend',
  'CLAIM-11':
    'whatever its holder does on a claim renews it, and nobody else can; an active claim never ends',
  'CLAIM-12':
    'claims, stale ones, escalations and health in one status; routing and status under the seeds’ addresses',
  'CLAIM-14': 'what is appended to events.jsonl is in a known shape that other implementations read',
  'STORE-1': 'one conformance suite gives the same results on every store',
  'STORE-2':
    'PostgreSQL brings roles and row level security where the server has none: an agent sees its own project and writes no table',
  'STORE-3': 'an unreachable store is said quickly, and service resumes by itself',
  'STORE-4':
    'the store is chosen in one order, never by SUPABASE_URL alone; locks and work can be had through PostgREST under row level security',
  'STORE-5': "on PostgreSQL all of the seed's tables exist under their names, with readable columns",
  'STORE-6': 'what only POSIX has is known, each with what Windows does instead',
  'STORE-7': 'many short processes at once on one SQLite file are all answered, however busy the machine is',
  'GUARD-8':
    'removing build output, temporary files or what git has unchanged is excused by named rules that can be switched off',
  'BID-1':
    'everybody on the roster bids on a new artefact and nothing is granted before the last bid, by name; silence past the deadline is written down as ignore',
  'BID-2': 'of several exclusive bids the first by name wins; the same bids give the same grants, always',
  'BID-3':
    'agents of a board have unique roles unless duplicates are allowed; the refusal names both agents, in the seed’s words',
  'BID-4':
    'agents join, are listed and leave, which unblocks consensus; who is granted something is told, and lists its grants',
  'PHASE-1': 'review, then parallel, then exclusive; a phase that nobody bid for is skipped',
  'PHASE-2':
    'exactly {} or [] approves, all else is feedback; all reviews are awaited, then one veto ends the claim; reviewing one’s own is allowed',
  'PHASE-3': 'all of a parallel phase must deliver before exclusive starts; each transition happens once',
  'PHASE-4': 'killed at any instant, the board goes on: no claim is stuck and none runs a phase twice',
  'PHASE-5':
    'time limits for each phase and agent: the claim ends with a Failure that says phase, agent, time and limit, or is tried again; late results change nothing',
  'PHASE-6':
    'rejected work goes back to its author with the feedback, three times at most, then a person decides about another round',
  'PHASE-7':
    'controller / worker: one bidder per role, ephemeral workers with limits of CPU, memory and time, always cleaned up',
  'PHASE-8': 'claims that are open for long are listed with what they wait for',
  'PHASE-9': 'who is granted a parallel part learns of its co-workers and the files they hold or declared',
  'DIR-1':
    'a task of the inbox is validated, goes to its agent’s folder and is assigned and dated; an unknown agent is an error in it, an invalid file stays and is told of',
  'DIR-2':
    'a result that names the next agent is followed by one task with title, artefacts and context, however often a pass runs',
  'DIR-3': 'tasks in progress on the same artefact are warned about and, where asked for, kept apart',
  'DIR-4':
    'what is stuck or silent is flagged, errors reach people, each occurrence once, known from the files alone',
  'DIR-5':
    'status, hand-offs, assignments, errors and warnings stand in their files; what has been done for long is archived',
  'DIR-6':
    'a pass can be repeated and cut short anywhere; it keeps nothing but the files, and a person’s move or edit wins',
  'DIR-7':
    'where a file lies is a person’s word: in an agent’s folder it is that agent’s, in done it is done, an error that was reset is tried again',
  'DIR-8': 'a pass writes nothing outside the work root and never touches an artefact or a result',
  'DIR-9':
    'files for cron, systemd and GitHub Actions, every five minutes and by hand; a pass commits the work directory alone, nothing when unchanged, and is planned anew when a push is rejected',
};
