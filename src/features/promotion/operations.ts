import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import type { Operation, Step } from '../../runtime/operation.ts';
import type { PromoteInput } from './operations/promote-draft.ts';

// What reads and writes drafts is loaded at the first use: most commands have nothing to do with it.

export const draftStatus = {
  name: 'draft_status',
  group: 'draft',
  verb: 'status',
  summary:
    'Your drafts: what promoting them would change, and what it takes. Finishes what a crash has left.',
  route: { method: 'POST', path: '/drafts/status' },
  mutates: false,
  standard: false,
  examples: ['cox draft status', 'cox draft status --agent-id alice --json'],
  input: async () => (await import('./schemas.ts')).draftStatus,
  async handle(input, step) {
    const { agent_id = step.caller.agent_id } = input;
    // Until it is promoted, a draft is for its agent, and for people.
    if (step.authority === 'agent' && agent_id !== step.caller.agent_id)
      return refuse(
        'forbidden',
        `These are the drafts of ${agent_id}; your key is that of ${step.caller.agent_id}.`,
      );
    return (await import('./operations/draft-status.ts')).draftsShown(step, agent_id);
  },
} satisfies Operation<{ agent_id?: string | undefined }>;

export const promoteDraft = {
  name: 'promote_draft',
  group: 'draft',
  verb: 'promote',
  summary:
    'Make your drafts the shared assets: with the claim, all evaluators passed, a person where rules say so.',
  route: { method: 'POST', path: '/drafts/promote' },
  mutates: true,
  standard: false,
  permission: 'write',
  positional: ['feature', 'edge'],
  examples: [`cox draft promote AUTH-1 "design→code" --evaluators '[{"name":"unit","passed":true}]'`],
  sample: { feature: 'AUTH-1', edge: 'design→code', evaluators: '3/3' },
  input: async () => (await import('./schemas.ts')).promoteDraft,
  handle: async (input, step) => (await import('./operations/promote-draft.ts')).promote(input, step),
} satisfies Operation<PromoteInput>;

export const discardDrafts = {
  name: 'discard_drafts',
  group: 'draft',
  verb: 'discard',
  summary: 'Throw away drafts of yours, all or those named. Nothing that was promoted changes.',
  route: { method: 'POST', path: '/drafts/discard' },
  mutates: true,
  destructive: true,
  repeatable: true,
  standard: false,
  positional: ['paths'],
  examples: ['cox draft discard notes.md', 'cox draft discard'],
  input: async () => (await import('./schemas.ts')).discardDrafts,
  handle: ({ paths }, step) => discard(step, paths),
} satisfies Operation<{ paths?: string[] | undefined }>;

async function discard(step: Step, paths: readonly string[] | undefined): Promise<JsonObject> {
  const { whereOf } = await import('./operations/draft-place.ts');
  const { listDrafts, namedDrafts, unwritable } = await import('./operations/drafted.ts');
  const where = await whereOf(step);
  if ('success' in where) return where;
  const { agent_id } = step.caller;
  const listed = await listDrafts(where, agent_id);
  if ('success' in listed) return listed;
  const named = namedDrafts(listed.drafts, paths);
  if ('success' in named) return named;
  try {
    const discarded = await where.place.discardDrafts(
      agent_id,
      named.map(({ path }) => path),
    );
    return { success: true, discarded };
  } catch (error) {
    return unwritable('The drafts can’t be removed', error);
  }
}
