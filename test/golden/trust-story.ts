import { exactHash, guardAction } from '../../src/features/guardrails/guard-step.ts';
import { freshNotices } from '../../src/features/trust/approvals/notice.ts';
import type { Finding } from '../../src/features/trust/finding.ts';
import { claimNotice, concludeNotice } from '../../src/features/trust/operations/notice-operations.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type Connection, HOUSEKEEPER } from '../../src/runtime/coordinator.ts';
import { finding } from '../features/trust/guard-facts.ts';
import type { Telling } from './telling.ts';

/** Found already, as a hook does it: how commands are read, and the words for it, may change without a new schema. */
async function reach(telling: Telling, who: Connection, command: string, found: Finding) {
  const guard = {
    kind: 'command',
    hash: exactHash('command', { command, folder: '', files: [] }),
    subject: command,
    context: { command, folder: '' },
    findings: [found],
  };
  return await telling.build(who, guardAction, guard);
}

const PUBLISH = finding('package_publishing', 'npm_publish');
const FORCE_PUSH = finding('git_force', 'force_push');

/** An unknown notice is told once; a channel that does not answer is recorded as failed. */
async function tellOfNotices(telling: Telling): Promise<void> {
  const { store, project, connect, build } = telling;
  const housekeeper = connect(HOUSEKEEPER);
  const { now_ms } = await store.find(project, {});
  const range = freshNotices(now_ms);
  const { loaded } = await store.find(project, { ranges: [range] });
  const notice_id = loaded.list(range)[0]?.id ?? '';
  for (const [channel, error] of [['file:log'], ['webhook:down', 'answered 503']] as const) {
    await build(housekeeper, claimNotice, { notice_id, channel });
    await build(housekeeper, concludeNotice, { notice_id, channel, error });
  }
}

/** Approved and done once; denied; five times too often; trusted again. */
async function tellOfApprovals(telling: Telling): Promise<void> {
  const { ask, connect, paul } = telling;
  const eve = connect({ agent_id: 'eve' });
  const asked = await reach(telling, eve, 'npm publish', PUBLISH);
  await tellOfNotices(telling);
  const { approval_id } = asked;
  const { approval } = await ask(paul, 'show_approval', { approval_id });
  const { shown_hash } = approval as JsonObject;
  await ask(paul, 'approve', { approval_id, shown_hash, reason: 'version 2' });
  await reach(telling, eve, 'npm publish', PUBLISH);
  const again = await reach(telling, eve, 'npm publish', PUBLISH);
  await ask(paul, 'deny_approval', { approval_id: again.approval_id, reason: 'once is enough' });
  for (const tag of ['a', 'b', 'c']) await reach(telling, eve, `npm publish --tag ${tag}`, PUBLISH);
  await ask(paul, 'restore_trust', { agent_name: 'eve' });
}

/** A profile that limits, counts, elevates, and goes again. */
async function tellOfProfiles(telling: Telling): Promise<void> {
  const { ask, connect, paul } = telling;
  const gina = connect({ agent_id: 'gina' });
  await ask(paul, 'set_profile', {
    name: 'p',
    trust_level: 3,
    elevated_operations: ['git_push_force'],
    resource_limits: { max_file_modifications: 2, max_file_reads: 9, max_api_calls_per_hour: 100 },
  });
  await ask(paul, 'assign_profile', { profile: 'p', to_agent: 'gina' });
  await ask(gina, 'submit_changeset', { file_paths: ['src/g.ts', 'src/h.ts'] });
  await ask(gina, 'report_usage', { file_reads: 3 });
  await reach(telling, gina, 'git push --force origin topic', FORCE_PUSH);
  await ask(gina, 'end_session', {});
  await ask(paul, 'unassign_profile', { to_agent: 'gina' });
  await ask(paul, 'remove_profile', { name: 'p' });
  await ask(paul, 'assign_profile', { profile: 'reviewer', to_type: 'critic' });
  await ask(paul, 'apply_profiles', {
    document: 'settings: { default_trust: 2, lower_trust_after: 5, approval_hours: 12 }',
  });
}

/** Who may what, who is asked, who is told. */
export async function tellOfTrust(telling: Telling): Promise<void> {
  await tellOfProfiles(telling);
  await tellOfApprovals(telling);
  const { ask, paul } = telling;
  const allow = ['category:documentation', '*.docs.example.com'];
  await ask(paul, 'set_network_policy', { name: 'our_docs', allow, default: 'deny' });
  await ask(paul, 'set_network_policy', { name: 'all_docs', allow });
  await ask(paul, 'remove_network_policy', { name: 'our_docs' });
}
