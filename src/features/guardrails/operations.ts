import type { JsonObject } from '../../kernel/json.ts';
import { isRefusal, refuse } from '../../kernel/refusal.ts';
import { answerOf, withoutCommit } from '../../ledger/decision.ts';
import type { Operation, Step } from '../../runtime/operation.ts';
import { guardOperation } from '../trust/approvals/index.ts';
import { listViolations as list, violationCountKey, violationRange } from '../trust/index.ts';
import { branchesHere } from './edits/branch.ts';
import { askedBy, commandGuard, guardStep } from './guard-step.ts';

export interface CheckGuardrailsInput {
  operation_text: string;
  file_paths: string[];
  dry_run: boolean;
}

export const checkGuardrails = {
  name: 'check_guardrails',
  group: 'guard',
  verb: 'check',
  summary:
    'Before you do something that could destroy: is it safe? What is not is put before a person, and may be repeated once approved.',
  route: { method: 'POST', path: '/guardrails/check' },
  mutates: true,
  standard: true,
  positional: ['operation_text'],
  examples: ['cox guard check "git push --force origin main"', 'cox guard check "rm -rf build" --dry-run'],
  sample: { operation_text: 'git status', dry_run: true },
  input: async () => (await import('./schemas.ts')).checkGuardrails,
  async handle({ operation_text, file_paths, dry_run }, step) {
    const files: string[] = [];
    for (const path of file_paths) {
      const normal = step.path(path, 'file_paths');
      // A file outside the repository is judged by its name as given.
      files.push(typeof normal === 'string' ? normal : path);
    }
    const { assessOperation } = await import('./assess-operation.ts');
    // A caller over HTTP works in another tree than the server's, which says nothing about the caller's.
    const isRemote = step.door === 'http' || step.door === 'mcp_http';
    const tree = isRemote ? undefined : { root: step.root, env: process.env, ...branchesHere };
    const findings = await assessOperation({ operation_text, file_paths: files }, tree);
    const guard = commandGuard(operation_text, '', findings, files);
    if (findings.length === 0) return { success: true, safe: true, violations: [], warnings: [] };
    const answer = dry_run ? await wouldBe(guard, step) : saidOfUse(await guardStep(guard, step));
    return isRefusal(answer) ? answer : { violations: [], ...answer };
  },
} satisfies Operation<CheckGuardrailsInput>;

/**
 * The check happens here and the act elsewhere. If the caller is not told that the check has used up the
 * approval, it is stopped at the act.
 */
function saidOfUse(answer: JsonObject): JsonObject {
  if (isRefusal(answer) || answer.approved_by === undefined) return answer;
  const message = `This check has used up approval ${answer.approval_id}: it is good for doing it now, once. Asked again, it is blocked again; dry_run asks without using anything up.`;
  return { ...answer, approval_used: true, message };
}

/** No person is asked, and nothing is counted or used up. */
async function wouldBe(guard: ReturnType<typeof commandGuard>, step: Step): Promise<JsonObject> {
  const verdict = await step.consider(guardOperation(askedBy(guard, step)));
  const answer = verdict.verdict === 'commit' ? verdict.answer : answerOf(withoutCommit(verdict));
  const { approval_id: _, approval_status: __, trust_lowered_to: ___, message, ...rest } = answer;
  if (rest.success !== false) return rest;
  return { ...rest, message: 'It would be blocked; nobody was asked.' };
}

export interface ListViolationsInput {
  agent_id?: string | undefined;
  limit: number;
}

export const listViolations = {
  name: 'list_violations',
  group: 'guard',
  verb: 'violations',
  summary: 'What agents were stopped at, or let through with a warning, newest first. Agents see their own.',
  route: { method: 'POST', path: '/guardrails/violations' },
  mutates: false,
  standard: false,
  examples: ['cox guard violations --limit 5', 'cox guard violations --agent-id alice --json'],
  sample: { limit: 5 },
  input: async () => (await import('./schemas.ts')).listViolations,
  async handle({ agent_id, limit }, step) {
    const own = step.authority === 'agent' ? step.caller.agent_id : undefined;
    if (own !== undefined && agent_id !== undefined && agent_id !== own)
      return refuse('forbidden', 'An agent sees its own violations only.', { field: 'agent_id' });
    const whose = own ?? agent_id;
    const range = violationRange(whose, limit);
    const counted = whose === undefined ? undefined : violationCountKey(whose);
    const { loaded } = await step.find({ ranges: [range], keys: counted === undefined ? [] : [counted] });
    const violations = list(range, loaded);
    if (counted === undefined) return { success: true, violations };
    const blocked = loaded.get<{ blocked: number }>(counted)?.state.blocked ?? 0;
    return { success: true, agent_id: whose, blocked_in_all: blocked, violations };
  },
} satisfies Operation<ListViolationsInput>;
