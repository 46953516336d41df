import { isoTime } from '../../kernel/clock.ts';
import type { Operation } from '../../runtime/operation.ts';
import { envSnippet, portBlock } from './port-block.ts';
import { portsService } from './ports.ts';

export interface Session {
  session_id: string;
}

/** No operation ids here: asking again gives the same block, and releasing again releases nothing. */
export const allocatePorts = {
  name: 'allocate_ports',
  group: 'port',
  verb: 'allocate',
  summary:
    'Ports of your own on this machine (database, REST, realtime, API) to run a stack beside others. Calling again extends it.',
  route: { method: 'POST', path: '/ports/allocate' },
  mutates: true,
  repeatable: true,
  machine: true,
  standard: true,
  positional: ['session_id'],
  examples: [
    'cox port allocate worktree-1',
    'cox port allocate worktree-1 --ttl-minutes 480',
    'eval "$(cox port allocate worktree-1 | grep ^export)"',
  ],
  input: async () => (await import('./schemas.ts')).allocatePorts,
  async handle({ session_id, ttl_minutes }, step) {
    const lease = await step.use(portsService).allocate(session_id, ttl_minutes);
    if ('success' in lease) return lease;
    const allocation = portBlock(session_id, lease.db_port);
    const expires_at = isoTime(lease.expires_at_ms);
    return { success: true, allocation, env_snippet: envSnippet(allocation), expires_at };
  },
} satisfies Operation<Session & { ttl_minutes?: number | undefined }>;

export const releasePorts = {
  name: 'release_ports',
  group: 'port',
  verb: 'release',
  summary: 'Give back a session’s ports.',
  route: { method: 'POST', path: '/ports/release' },
  mutates: true,
  repeatable: true,
  machine: true,
  standard: true,
  positional: ['session_id'],
  examples: ['cox port release worktree-1'],
  input: async () => (await import('./schemas.ts')).releasePorts,
  async handle({ session_id }, step) {
    const released = await step.use(portsService).release(session_id);
    return typeof released === 'boolean' ? { success: true, released } : released;
  },
} satisfies Operation<Session>;

export const portsStatus = {
  name: 'ports_status',
  group: 'port',
  verb: 'status',
  also: ['list'],
  summary: 'Which sessions have which ports on this machine, and for how long.',
  route: { method: 'GET', path: '/ports/status' },
  mutates: false,
  open: true,
  machine: true,
  standard: true,
  examples: ['cox port status', 'cox port status --json'],
  input: async () => (await import('./schemas.ts')).portsStatus,
  async handle(_input, step) {
    const listed = await step.use(portsService).list();
    if ('success' in listed) return listed;
    const allocations = listed.leases.map(({ session_id, db_port, expires_at_ms }) => ({
      session_id,
      ...portBlock(session_id, db_port),
      // Rounded up: a live lease never shows 0 minutes.
      remaining_minutes: Math.ceil((expires_at_ms - listed.now_ms) / 60_000),
      expires_at: isoTime(expires_at_ms),
    }));
    return { success: true, allocations };
  },
} satisfies Operation;
