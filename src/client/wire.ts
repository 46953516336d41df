// Written by `node scripts/client-wire.ts` from the declarations in src/operations.

/** How an operation is asked for over HTTP. */
export interface Wire {
  readonly path: string;
  /** What may be asked for again after a lost answer: what changes nothing; what has a name; nothing else. */
  readonly repeats: 'freely' | 'by_id' | 'never';
  /** The field that says for how many seconds the call may wait. */
  readonly waits?: string;
}

export type WireTable = Readonly<Record<string, Wire>>;

export const wire: WireTable = {
  acquire_lock: { path: '/locks/acquire', repeats: 'by_id', waits: 'wait_seconds' },
  release_lock: { path: '/locks/release', repeats: 'by_id' },
  check_locks: { path: '/locks/check', repeats: 'freely' },
  submit_work: { path: '/work/submit', repeats: 'by_id' },
  get_work: { path: '/work/claim', repeats: 'by_id', waits: 'wait_seconds' },
  complete_work: { path: '/work/complete', repeats: 'by_id' },
  renew_work: { path: '/work/renew', repeats: 'by_id' },
  show_work: { path: '/work/show', repeats: 'freely' },
  list_work: { path: '/work/list', repeats: 'freely' },
  cancel_work: { path: '/work/cancel', repeats: 'by_id' },
  reprioritise_work: { path: '/work/reprioritise', repeats: 'by_id' },
  retry_work: { path: '/work/retry', repeats: 'by_id' },
  submit_work_batch: { path: '/work/submit-batch', repeats: 'by_id' },
  get_work_batch: { path: '/work/claim-batch', repeats: 'by_id', waits: 'wait_seconds' },
  complete_work_batch: { path: '/work/complete-batch', repeats: 'by_id' },
  register_session: { path: '/sessions/register', repeats: 'by_id' },
  heartbeat: { path: '/sessions/heartbeat', repeats: 'by_id' },
  discover_agents: { path: '/agents/discover', repeats: 'freely' },
  end_session: { path: '/sessions/end', repeats: 'by_id' },
  cleanup_dead_agents: { path: '/sessions/cleanup', repeats: 'by_id' },
  write_handoff: { path: '/handoffs/write', repeats: 'by_id' },
  read_handoff: { path: '/handoffs/read', repeats: 'freely' },
  send_message: { path: '/mail/send', repeats: 'by_id' },
  read_inbox: { path: '/mail/inbox', repeats: 'freely' },
  acknowledge_message: { path: '/mail/acknowledge', repeats: 'by_id' },
  show_team: { path: '/team/show', repeats: 'freely' },
  submit_changeset: { path: '/changesets/submit', repeats: 'by_id' },
  list_changesets: { path: '/changesets/list', repeats: 'freely' },
  allocate_ports: { path: '/ports/allocate', repeats: 'freely' },
  release_ports: { path: '/ports/release', repeats: 'freely' },
  ports_status: { path: '/ports/status', repeats: 'freely' },
  create_key: { path: '/keys/create', repeats: 'by_id' },
  list_keys: { path: '/keys/list', repeats: 'freely' },
  revoke_key: { path: '/keys/revoke', repeats: 'by_id' },
  query_audit: { path: '/audit', repeats: 'freely' },
  get_stats: { path: '/stats', repeats: 'freely' },
};
