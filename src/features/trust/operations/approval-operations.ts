import type { JsonObject } from '../../../kernel/json.ts';
import { refuse } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import {
  type ApprovalQuery,
  type ApprovalState,
  approvalKey,
  approvalRanges,
  describeApproval,
  listApprovals as list,
} from '../approvals/approval.ts';
import { consequencesService, unknownApproval } from '../approvals/decide-approval.ts';
import { decideApproval } from '../commands.ts';

export const listApprovals = {
  name: 'list_approvals',
  group: 'approval',
  verb: 'list',
  summary: 'What waits for a person, or was decided. Agents see what they asked for.',
  route: { method: 'POST', path: '/approvals/list' },
  mutates: false,
  standard: false,
  examples: ['cox approval list', 'cox approval list --status all --json'],
  sample: { status: 'all' },
  input: async () => (await import('../schemas/approval-schemas.ts')).listApprovals,
  async handle({ status, requested_by, limit }, step) {
    const own = step.authority === 'agent' ? step.caller.agent_id : undefined;
    if (own !== undefined && requested_by !== undefined && requested_by !== own)
      return refuse('forbidden', 'An agent sees what it asked for itself.', { field: 'requested_by' });
    const query = { status, limit, agent_id: own ?? requested_by };
    const { loaded, now_ms } = await step.find({ ranges: approvalRanges(query) });
    return { success: true, approvals: list(query, loaded, now_ms) };
  },
} satisfies Operation<Omit<ApprovalQuery, 'agent_id'> & { requested_by?: string | undefined }>;

export const showApproval = {
  name: 'show_approval',
  group: 'approval',
  verb: 'show',
  summary:
    'All that a person is asked to decide about one thing: the command or diff, who, where, why it is dangerous.',
  route: { method: 'POST', path: '/approvals/show' },
  mutates: false,
  standard: false,
  positional: ['approval_id'],
  examples: ['cox approval show 3f9a2c81d04e'],
  sample: { approval_id: '3f9a2c81d04e' },
  input: async () => (await import('../schemas/approval-schemas.ts')).showApproval,
  async handle({ approval_id }, step) {
    const key = approvalKey(approval_id);
    const { loaded, now_ms } = await step.find({ keys: [key] });
    const record = loaded.get<ApprovalState>(key);
    // For an agent, an approval that it may not see does not exist: an id is not secret, but it grants no
    // access either.
    const hidden = step.authority === 'agent' && record?.state.requested_by !== step.caller.agent_id;
    if (record === undefined || hidden) return unknownApproval(approval_id);
    return { success: true, approval: describeApproval(record, now_ms) };
  },
} satisfies Operation<{ approval_id: string }>;

interface DecisionInput {
  readonly approval_id: string;
  readonly shown_hash?: string | undefined;
  readonly reason?: string | undefined;
}

async function decide(verdict: 'approved' | 'denied', input: DecisionInput, step: Step): Promise<JsonObject> {
  const { approval_id, shown_hash, reason } = input;
  const decided_by = step.caller.agent_id;
  const consequences = await step.use(consequencesService)();
  const decided = { approval_id, shown_hash, reason, verdict, decided_by };
  const answer = answerOf(await step.run(decideApproval(decided, consequences.decide)));
  return await consequences.afterwards(answer, step);
}

export const approve = {
  name: 'approve',
  group: 'approval',
  verb: 'approve',
  summary: 'Permit exactly what was shown, once. A person’s decision; `cox approve` shows it first.',
  route: { method: 'POST', path: '/approvals/approve' },
  mutates: true,
  standard: false,
  personal: true,
  positional: ['approval_id'],
  examples: ['cox approve 3f9a2c81d04e'],
  sample: { approval_id: '3f9a2c81d04e', shown_hash: '0'.repeat(64) },
  input: async () => (await import('../schemas/approval-schemas.ts')).approve,
  handle: (input, step) => decide('approved', input, step),
} satisfies Operation<{ approval_id: string; shown_hash: string; reason?: string | undefined }>;

export const denyApproval = {
  name: 'deny_approval',
  group: 'approval',
  verb: 'deny',
  summary: 'Refuse it, with a reason that the agent is told. A person’s decision.',
  route: { method: 'POST', path: '/approvals/deny' },
  mutates: true,
  standard: false,
  personal: true,
  positional: ['approval_id'],
  examples: ['cox deny 3f9a2c81d04e --reason "push to a branch and open a pull request"'],
  sample: { approval_id: '3f9a2c81d04e', reason: 'open a pull request instead' },
  input: async () => (await import('../schemas/approval-schemas.ts')).denyApproval,
  handle: (input, step) => decide('denied', input, step),
} satisfies Operation<{ approval_id: string; shown_hash?: string | undefined; reason: string }>;
