import type { JsonObject } from '../../src/kernel/json.ts';
import { canonical, replay } from '../../src/ledger/replay.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { agent } from '../conformance/engine.ts';
import { rowsIn } from './sync-support.ts';

/** What came of it, without what is another thing each time: ids, times, tokens. */
export interface Outcome {
  /** Who was given what, and who was not, in the order of asking. */
  readonly answers: readonly string[];
  /** What happened, in the order of the log. */
  readonly events: readonly string[];
  readonly fold: Readonly<Record<string, string>>;
}

const PLACE = { feature: 'AUTH-1', edge: 'design→code' };

/** One story of a fleet: locks, a queue with dependencies, sessions, letters, claims, something dangerous and a person. */
export async function perform(coxswain: Coxswain): Promise<Outcome> {
  const answers: JsonObject[] = [];
  const as = (name: string) => {
    const call = agent(coxswain, name);
    return async (operation: string, input: JsonObject = {}) => {
      const answer = await call(operation, input);
      answers.push({ name, operation, answer });
      return answer;
    };
  };
  const [anna, bert, carl] = [as('anna'), as('bert'), as('carl')];
  await anna('register_session', { capabilities: ['review'], current_task: 'the router' });
  await bert('register_session', { capabilities: ['test'] });
  await locks(anna, bert, carl);
  await queue(anna, bert, carl);
  await anna('claim_edge', PLACE);
  await bert('claim_edge', PLACE);
  await anna('release_edge', PLACE);
  await bert('claim_edge', { ...PLACE, agent_role: 'full_stack' });
  await bert('converge_edge', { ...PLACE, evaluators: [{ name: 'tests', passed: true }] });
  const sent = await anna('send_message', { capability: 'test', subject: 'a', body: 'look at it' });
  await bert('acknowledge_message', { message_ids: [sent.message_id as string] });
  await bert('write_handoff', { summary: 'half done', next_steps: ['the rest'] });
  await dangerous(coxswain, carl);
  await bert('end_session');
  return await outcome(coxswain, answers);
}

type Ask = (operation: string, input?: JsonObject) => Promise<JsonObject>;

async function locks(anna: Ask, bert: Ask, carl: Ask): Promise<void> {
  await anna('acquire_lock', { file_path: 'src/a.ts', reason: 'rename' });
  await bert('acquire_lock', { file_path: 'src/a.ts' });
  await bert('acquire_lock', { file_paths: ['docs/', 'lib/*.ts'], shared: true });
  await carl('acquire_lock', { file_path: 'docs/x.md' });
  await carl('acquire_lock', { file_path: 'docs/x.md', shared: true });
  await anna('release_lock', { file_path: 'src/a.ts' });
  await bert('acquire_lock', { file_path: 'src/a.ts' });
}

async function queue(anna: Ask, bert: Ask, carl: Ask): Promise<void> {
  const submit = async (task_description: string, more: JsonObject = {}) =>
    (await anna('submit_work', { task_type: 'build', task_description, ...more })).task_id as string;
  const first = await submit('first');
  await submit('second');
  await submit('urgent', { priority: 1 });
  const child = await submit('child', { depends_on: [first], priority: 1 });
  await submit('skipped', { depends_on: [child], on_dependency_failure: 'skip' });
  const taken: [Ask, string][] = [];
  for (const who of [bert, carl, bert, carl]) {
    const { task_id } = await who('get_work');
    if (typeof task_id === 'string') taken.push([who, task_id]);
  }
  for (const [who, task_id] of taken) await who('complete_work', { task_id, success: true });
  const { task_id } = await carl('get_work');
  await carl('complete_work', { task_id, success: false, error_message: 'red' });
  await bert('get_work');
}

async function dangerous(coxswain: Coxswain, carl: Ask): Promise<void> {
  const asked = { operation_text: 'rm -rf /data/everything' };
  const { approval_id } = await carl('check_guardrails', asked);
  const actor = { agent_id: 'person:paul', agent_type: 'person', session_id: 'paul' };
  const paul = coxswain.connect(actor, 'person');
  const decide = async (name: string, input: JsonObject) => {
    const operation = operationsByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return await paul.perform(operation, input);
  };
  const { approval } = await decide('show_approval', { approval_id });
  await decide('approve', { approval_id, shown_hash: (approval as JsonObject).shown_hash });
  await carl('check_guardrails', asked);
}

async function outcome(coxswain: Coxswain, answers: readonly JsonObject[]): Promise<Outcome> {
  const names = new Names();
  const rows = await rowsIn(coxswain, coxswain.project);
  const events = rows.flatMap((row) => row.events.map((event) => names.in(canonical({ ...event }))));
  const { state } = await replay(coxswain.store, entities, coxswain.project);
  const records = [...state].map(([key, record]) => [names.in(key), names.in(canonical(record.state))]);
  return {
    answers: answers.map((answer) => names.in(canonical(answer))),
    events,
    fold: Object.fromEntries(records) as Record<string, string>,
  };
}

const TIMES = /\b\d{13}\b|\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const IDS =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{12,}\b|coxs_[\w.-]+|(?<="token_hash":")[\w-]+/g;

/** Ids by the order in which the log first speaks of them. */
class Names {
  readonly #known = new Map<string, string>();

  in(text: string): string {
    return text.replace(TIMES, 'T').replace(IDS, (id) => {
      const name = this.#known.get(id) ?? `id${this.#known.size + 1}`;
      this.#known.set(id, name);
      return name;
    });
  }
}
