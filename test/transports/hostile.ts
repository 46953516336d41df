import fc from 'fast-check';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operations } from '../../src/runtime/operation-list.ts';

const task_id = '0192a000-0000-7000-8000-000000000001';
const run_id = `${'4f'.repeat(20)}#unit-tests`;

/** An input that each operation takes; every hostile one is this with a single thing wrong. */
export const soundInputs: Readonly<Record<string, JsonObject>> = {
  acquire_lock: { file_path: 'src/a.ts' },
  release_lock: { file_path: 'src/a.ts' },
  check_locks: {},
  submit_work: { task_type: 't', task_description: 'd' },
  get_work: {},
  complete_work: { task_id, success: true },
  renew_work: { task_id },
  show_work: { task_id },
  list_work: {},
  cancel_work: { task_id },
  reprioritise_work: { task_id, priority: 1 },
  retry_work: { task_id },
  submit_work_batch: { tasks: [{ task_type: 't', task_description: 'd' }] },
  get_work_batch: {},
  complete_work_batch: { items: [{ task_id, success: true }] },
  register_session: {},
  heartbeat: {},
  discover_agents: {},
  end_session: {},
  cleanup_dead_agents: {},
  write_handoff: { summary: 's' },
  read_handoff: {},
  read_inbox: {},
  show_team: {},
  submit_changeset: { file_paths: ['a.ts'] },
  list_changesets: {},
  verify_changeset: { changeset_id: task_id },
  verification_status: { commit_sha: '4f1c2ab' },
  list_verification_policies: {},
  set_verification_policy: { name: 'p', tier: 0, executor: 'inline', patterns: ['**'] },
  remove_verification_policy: { name: 'p' },
  start_verification: { run_id },
  record_verification: { run_id, status: 'passed', secret: 's' },
  send_message: { to: ['bob'], body: 'b' },
  acknowledge_message: { message_ids: [task_id] },
  draft_status: {},
  promote_draft: { feature: 'AUTH-1', edge: 'design→code' },
  discard_drafts: {},
  rebuild_views: {},
  create_task_file: { agent: 'coder', title: 't' },
  list_task_files: {},
  show_task_file: { task_id: 'x' },
  start_task_file: { task_id: 'x' },
  finish_task_file: { task_id: 'x', summary: 's' },
  fail_task_file: { task_id: 'x', message: 'm' },
  freeze_task_file: { task_id: 'x' },
  retry_task_file: { task_id: 'x' },
  file_work: { work_id: '0192a000-0000-7000-8000-000000000001', agent: 'coder' },
  publish_artefact: { type: 'GoalDefined', payload: 'a page' },
  get_artefact: { artefact_id: task_id },
  list_artefacts: {},
  artefact_lineage: { artefact_id: task_id },
  board_status: {},
  join_board: { role: 'Reviewer' },
  leave_board: {},
  place_bid: { claim_id: task_id, bid: 'review' },
  my_grants: {},
  take_grant: { claim_id: task_id },
  return_grant: { claim_id: task_id },
  deliver_artefact: { claim_id: task_id, type: 'Review', payload: '{}' },
  terminate_claim: { claim_id: task_id, reason: 'r' },
  configure_board: {},
  allocate_ports: { session_id: 'worktree-1' },
  release_ports: { session_id: 'worktree-1' },
  ports_status: {},
  check_network: { domain: 'pypi.org' },
  list_network_access: {},
  set_network_policy: { name: 'ours' },
  remove_network_policy: { name: 'ours' },
  list_network_policies: {},
  create_key: { agent: 'alice' },
  list_keys: {},
  revoke_key: { key_id: '3f9a2c81d04e' },
  query_audit: {},
  get_stats: {},
  check_guardrails: { operation_text: 'git status' },
  list_violations: {},
  list_approvals: {},
  show_approval: { approval_id: '3f9a2c81d04e' },
  approve: { approval_id: '3f9a2c81d04e', shown_hash: '0'.repeat(64) },
  deny_approval: { approval_id: '3f9a2c81d04e', reason: 'no' },
  get_my_profile: {},
  list_profiles: {},
  show_profile: { name: 'default' },
  set_profile: { name: 'p' },
  remove_profile: { name: 'p' },
  assign_profile: { profile: 'default', to_agent: 'alice' },
  unassign_profile: { to_agent: 'alice' },
  restore_trust: { agent_name: 'alice' },
  apply_profiles: { document: 'profiles: {}' },
  check_policy: { operation: 'write' },
  report_usage: {},
  claim_edge: { feature: 'F-1', edge: 'design_code' },
  heartbeat_claim: { feature: 'F-1', edge: 'design_code' },
  release_edge: { feature: 'F-1', edge: 'design_code' },
  converge_edge: { feature: 'F-1', edge: 'design_code' },
  claims_status: {},
  resolve_stale_claim: { feature: 'F-1', edge: 'design_code', decision: 'keep' },
  set_claim_mode: { mode: 'many' },
  route_work: {},
};

export interface Hostile {
  readonly operation: string;
  readonly input: JsonObject;
  /** The field that the refusal has to name. */
  readonly field: string;
  /** What the schema wants there. */
  readonly type?: string | undefined;
}

const scalars = {
  text: fc.string({ maxLength: 40 }),
  number: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  boolean: fc.boolean(),
  none: fc.constant(null),
};

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** JSON that no store could keep or give back unchanged. */
const unstorable = fc.oneof(
  fc.constantFrom<unknown>('a\0b', '\ud800', { 'k\0': 1 }, [['\udfff']], JSON.parse('{"__proto__":{"a":1}}')),
  fc.integer({ min: 33, max: 3000 }).map(nested),
  fc.constant('x'.repeat(200_001)),
);

/** Values that a schema can't accept, derived from the schema itself. */
function poison(property: JsonObject): fc.Arbitrary<unknown> {
  const { text, number, boolean, none } = scalars;
  const structure = fc.oneof(fc.array(fc.jsonValue(), { maxLength: 3 }), fc.dictionary(text, fc.jsonValue()));
  const objects = fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), fc.jsonValue(), { minKeys: 1 });
  switch (property.type) {
    case 'string': {
      const wrong: fc.Arbitrary<unknown>[] = [
        number,
        boolean,
        none,
        structure,
        fc.constantFrom('a\0b', '\ud800'),
      ];
      if (typeof property.maxLength === 'number') wrong.push(fc.constant('x'.repeat(property.maxLength + 1)));
      if (typeof property.format === 'string') wrong.push(text);
      const { pattern } = property;
      const odd = ['', 'a b', '-- x', 'a/b', 'ü'];
      const others =
        typeof pattern === 'string' ? odd.filter((each) => !new RegExp(pattern, 'u').test(each)) : [];
      if (others.length > 0) wrong.push(fc.constantFrom(...others));
      return fc.oneof(...wrong);
    }
    case 'integer':
    case 'number': {
      const wrong: fc.Arbitrary<unknown>[] = [text, boolean, none, structure];
      if (typeof property.minimum === 'number')
        wrong.push(fc.integer({ max: Math.ceil(property.minimum) - 1 }));
      if (typeof property.maximum === 'number') wrong.push(fc.constantFrom(property.maximum * 2, 1e300));
      if (property.type === 'integer') wrong.push(fc.constant(1.5));
      return fc.oneof(...wrong);
    }
    case 'boolean':
      return fc.oneof(text, number, none, structure);
    case 'array': {
      const inner = poison(property.items as JsonObject).map((item) => [item]);
      return fc.oneof(text, number, boolean, none, objects, inner);
    }
    case 'object':
      return fc.oneof(text, number, boolean, none, fc.constant([]), objects);
    default:
      return unstorable;
  }
}

const hostileNames = fc.oneof(
  fc.constantFrom('constructor', 'toString', 'hasOwnProperty', 'agent', 'Success', ' '),
  fc.string({ minLength: 1, maxLength: 30 }),
);

async function hostileFor(name: string, schema: JsonObject): Promise<fc.Arbitrary<Hostile>> {
  const base = soundInputs[name] ?? {};
  const properties = schema.properties as Record<string, JsonObject>;
  const names = Object.keys(properties);
  const wrongValue = fc.constantFrom(...(names.length === 0 ? [''] : names)).chain((field) =>
    poison(properties[field] ?? {}).map((value) => ({
      operation: name,
      field,
      type: properties[field]?.type as string | undefined,
      input: { ...base, [field]: value } as JsonObject,
    })),
  );
  const reserved = new Set([...Object.keys(properties), 'agent_id', 'agent_type', 'session_id']);
  const unknownField = fc
    .tuple(
      hostileNames.filter((field) => !reserved.has(field)),
      fc.jsonValue(),
    )
    .map(([field, value]) => {
      const input = { ...base };
      Object.defineProperty(input, field, { value, enumerable: true });
      return { operation: name, field: '', input };
    });
  const missing = ((schema.required ?? []) as string[]).map((field) => {
    const { [field]: _, ...input } = base;
    return fc.constant({ operation: name, field, type: 'missing', input });
  });
  if (names.length === 0) return unknownField;
  return fc.oneof({ weight: 8, arbitrary: wrongValue }, { weight: 2, arbitrary: unknownField }, ...missing);
}

export async function hostileInputs(): Promise<fc.Arbitrary<Hostile>> {
  const each = operations.map(async ({ name, input }) => hostileFor(name, (await input()).json));
  return fc.oneof(...(await Promise.all(each)));
}

/** Why an answer is not what a hostile input deserves; nothing if it is. */
export function complaint(answer: JsonObject, { field }: Hostile): string | undefined {
  const code = String(answer.error);
  if (answer.success !== false) return 'it was accepted';
  if (!/^(invalid_input|path_\w+|logical_key_invalid|too_large)$/.test(code)) return `the code is ${code}`;
  if (typeof answer.field !== 'string' || !answer.field.startsWith(field))
    return `it names ${String(answer.field)}`;
  if (typeof answer.message !== 'string' || typeof answer.remedy !== 'string')
    return 'no message or no remedy';
  return undefined;
}
