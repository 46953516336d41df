import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fleet, noFleet } from '../../src/features/claims/fleet/fleet.ts';
import { Presence } from '../../src/features/sessions/presence.ts';
import { TeamReader } from '../../src/features/teams/team-reader.ts';
import { profileEnforcement } from '../../src/features/trust/enforcement/profile-enforcer.ts';
import { RulebookReader } from '../../src/features/trust/rules/rulebook-reader.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { createIds } from '../../src/kernel/ids.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { isRefusal } from '../../src/kernel/refusal.ts';
import { findWorkspace } from '../../src/kernel/workspace.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { Connection } from '../../src/runtime/coordinator.ts';
import { entities } from '../../src/runtime/entities.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { placeServices } from '../../src/runtime/place-services.ts';
import { MemoryStore } from '../../src/stores/memory/store.ts';
import { Seeded } from '../simulation/random.ts';
import { tellOfTheBoard } from './board-story.ts';
import { tellOfClaims } from './claims-story.ts';
import { tellOfPromotions } from './promotion-story.ts';
import { tellOfTaskFiles } from './task-files-story.ts';
import type { Telling } from './telling.ts';
import { tellOfTrust } from './trust-story.ts';
import { tellOfVerification } from './verification-story.ts';

const MINUTE_MS = 60_000;

const TEAM = `team: golden
agents:
  - { name: carl, role: worker, capabilities: [], description: works }
rules:
  at_once:
    - { role: worker, tasks: 2 }
`;

/** Without a file of rules and without a plan; its drafts are where they always are. */
function fleetIn(folder: string): Fleet {
  return { ...noFleet, folder: join(folder, '.ai-workspace') };
}

type Ask = (who: Connection, name: string, input: JsonObject) => Promise<JsonObject>;

/** Readers, a folder, a pattern, and an agent that waits until another one's time is over. */
async function tellOfFolders(ask: Ask, anna: Connection, bert: Connection): Promise<void> {
  await ask(anna, 'acquire_lock', { file_paths: ['docs/', 'docs/*.md'], shared: true, ttl_minutes: 5 });
  await ask(bert, 'acquire_lock', { file_path: 'docs/a.md', shared: true, reason: 'read', ttl_minutes: 5 });
  await ask(anna, 'release_lock', { file_paths: ['docs/', 'docs/*.md'] });
  await ask(bert, 'acquire_lock', { file_path: 'docs/a.md', ttl_minutes: 1 });
  await ask(anna, 'acquire_lock', { file_path: 'docs/', wait_seconds: 90 });
}

/** Two who say who they are, write to each other, leave something behind; one says goodbye, one falls silent. */
async function tellOfSessions(
  ask: Ask,
  [carl, dora]: [Connection, Connection],
  pass: (minutes: number) => void,
): Promise<void> {
  const capabilities = ['review'];
  await ask(carl, 'register_session', { capabilities, current_task: 'the router' });
  await ask(dora, 'submit_work', { task_type: 'session', task_description: 'for carl' });
  await ask(carl, 'get_work', { task_types: ['session'] });
  await ask(carl, 'acquire_lock', { file_paths: ['src/c.ts', 'lib/'] });
  const sent = await ask(dora, 'send_message', { capability: 'review', subject: 'c', body: 'is it free?' });
  await ask(carl, 'acknowledge_message', { message_ids: [sent.message_id as string] });
  await ask(carl, 'send_message', { body: 'soon', in_reply_to: sent.message_id, to: ['dora', 'emil'] });
  await ask(carl, 'submit_changeset', { file_paths: ['src/c.ts'], commit_sha: '4f1c2ab', summary: 'c' });
  await ask(carl, 'write_handoff', { summary: 'half done', next_steps: ['the rest'] });
  pass(2);
  await carl.keepAlive();
  await ask(dora, 'heartbeat', {});
  pass(20);
  await ask(dora, 'cleanup_dead_agents', {});
  await ask(carl, 'check_locks', {});
  await ask(dora, 'end_session', {});
}

const THE_REST = [
  tellOfTrust,
  tellOfVerification,
  tellOfClaims,
  tellOfPromotions,
  tellOfTheBoard,
  tellOfTaskFiles,
];

/** A short story in which every event occurs, told to the product itself: always the same log. */
export async function tellStory(folder: string): Promise<LogEntry[]> {
  let now_ms = Date.UTC(2026, 0, 5, 9);
  const clock: Clock = { now_ms: () => now_ms, elapsed_ms: () => now_ms, sleep: async () => {} };
  /** A waiter waits until it has to say that it still does. */
  const hints = () => ({
    next: async (until_ms: number) => {
      now_ms = until_ms;
    },
    close: () => {},
  });
  const random = new Seeded(1);
  const ids = createIds(clock, random);
  const store = new MemoryStore({ entities, clock, random, ids });
  const workspace = findWorkspace(folder);
  const project = 'golden';
  const rules = new RulebookReader(store, project, clock);
  const around = { enforcement: profileEnforcement(rules), services: placeServices({ rules }) };
  const context = { store, clock, ids, workspace, project, hints, ...around };
  const connect = (agent_id: string) =>
    new Connection(context, { agent_id, agent_type: 'codex', session_id: `${agent_id}-1` });
  const [anna, bert] = [connect('anna'), connect('bert')];
  const ask = async (who: Connection, name: string, input: JsonObject): Promise<JsonObject> => {
    now_ms += 1000;
    const operation = operationsByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return await who.perform(operation, input);
  };
  const submit = async (input: JsonObject) =>
    (await ask(anna, 'submit_work', { task_type: 'test', task_description: 'run them', ...input }))
      .task_id as string;

  await ask(anna, 'acquire_lock', { file_path: 'src/a.ts', reason: 'rename', ttl_minutes: 5 });
  await ask(anna, 'acquire_lock', { file_path: 'src/a.ts', reason: 'rename, format', ttl_minutes: 5 });
  now_ms += 6 * MINUTE_MS;
  await ask(bert, 'acquire_lock', { file_path: 'src/a.ts', ttl_minutes: 5 });
  await ask(bert, 'release_lock', { file_path: 'src/a.ts' });

  const parent = await submit({ input_data: { suite: 'browser' }, files: ['src/a.ts'], priority: 2 });
  await submit({ depends_on: [parent], idempotency_key: 'report' });
  await ask(bert, 'get_work', { lease_minutes: 5 });
  await ask(bert, 'renew_work', { task_id: parent, lease_minutes: 5 });
  await ask(bert, 'complete_work', {
    task_id: parent,
    success: false,
    error_message: 'red',
    result: { failed: 3 },
  });
  await ask(anna, 'retry_work', { task_id: parent });
  await ask(anna, 'get_work', { lease_minutes: 5 });
  await ask(anna, 'complete_work', { task_id: parent, success: true, result: { passed: 12 } });

  const fragile = await submit({ priority: 1, max_attempts: 2 });
  const late = await submit({ not_before: new Date(now_ms + 30 * MINUTE_MS).toISOString() });
  await ask(anna, 'reprioritise_work', { task_id: late, priority: 1 });
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await ask(bert, 'get_work', { task_types: ['test'], lease_minutes: 1 });
    now_ms += 2 * MINUTE_MS;
    await ask(anna, 'get_work', { task_types: ['none'] });
    now_ms += MINUTE_MS;
  }
  await submit({ depends_on: [late], on_dependency_failure: 'skip' });
  await submit({ depends_on: [late], on_dependency_failure: 'run' });
  await ask(anna, 'cancel_work', { task_id: late, reason: 'no longer needed' });
  if ((await ask(anna, 'show_work', { task_id: fragile })).status !== 'dead')
    throw new Error('the story went wrong');
  await tellOfFolders(ask, anna, bert);
  // No agent submits meanwhile: it joins the line and leaves it.
  await ask(bert, 'get_work', { task_types: ['none'], wait_seconds: 1 });

  writeFileSync(join(folder, 'teams.yaml'), TEAM);
  const presence = new Presence(clock);
  const teams = new TeamReader(workspace, clock, {});
  const present = (agent_id: string) =>
    new Connection(
      { ...context, presence, services: placeServices({ rules, teams }) },
      { agent_id, agent_type: 'codex', session_id: `${agent_id}-1` },
    );
  const operator = new Connection(context, { agent_id: 'op', agent_type: 'cli', session_id: 'op-1' });
  const { key_id } = await ask(operator, 'create_key', { agent: 'carl', expires_days: 30 });
  await ask(operator, 'revoke_key', { key_id });
  const pass = (minutes: number) => {
    now_ms += minutes * MINUTE_MS;
  };
  await tellOfSessions(ask, [present('carl'), present('dora')], pass);
  const come: Telling['connect'] = (who, authority) => {
    const { agent_id, agent_type = 'codex', session_id = `${agent_id}-1` } = who;
    const shows = agent_type === 'codex' || agent_type === 'worker' ? 'always' : 'never';
    const actor = { agent_id, agent_type, session_id };
    const services = placeServices({ rules, teams, fleet: fleetIn(folder) });
    return new Connection({ ...context, presence, services }, actor, authority, { shows });
  };
  const telling: Telling = {
    store,
    project,
    root: folder,
    pass,
    paul: come({ agent_id: 'person:paul', agent_type: 'person', session_id: 'paul-1' }, 'person'),
    connect: come,
    ask: async (who, name, input) => {
      const answer = await ask(who, name, input);
      if (isRefusal(answer)) throw new Error(`the story went wrong: ${name}: ${answer.message}`);
      return answer;
    },
    build: async (who, operation, input) => {
      now_ms += 1000;
      return await who.performBuilt(operation, input);
    },
  };
  for (const tell of THE_REST) await tell(telling);
  return (await store.read(project, 0, 1000)).entries;
}
