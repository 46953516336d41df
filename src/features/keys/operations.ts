import { PERSON_TYPE, personId } from '../../kernel/names.ts';
import { isRefusal } from '../../kernel/refusal.ts';
import { newSecret, newSecretName, secretHash } from '../../kernel/secret.ts';
import { answerOf } from '../../ledger/decision.ts';
import type { Operation } from '../../runtime/operation.ts';
import { everyKey, listKeys as list } from './change-keys.ts';
import { createKey as decideCreate, revokeKey as decideRevoke } from './commands.ts';
import type { KeyRole } from './state.ts';

export interface CreateKeyInput {
  agent?: string | undefined;
  agent_type?: string | undefined;
  person?: string | undefined;
  service?: boolean | undefined;
  name?: string | undefined;
  expires_days?: number | undefined;
}

const DAY_MS = 24 * 3600 * 1000;

/** A person's key has a recognisably different form. */
function keyText(role: KeyRole, id: string, secret: string): string {
  return `${role === 'person' ? 'coxp' : 'cox'}_${id}_${secret}`;
}

function identityOf({ agent, agent_type, person, name }: CreateKeyInput) {
  if (agent !== undefined)
    return { role: 'agent', name: name ?? agent, agent_id: agent, agent_type } as const;
  if (person === undefined) return { role: 'service', name: name ?? 'service' } as const;
  return {
    role: 'person',
    name: name ?? person,
    agent_id: personId(person),
    agent_type: PERSON_TYPE,
  } as const;
}

export const createKey = {
  name: 'create_key',
  group: 'key',
  verb: 'create',
  summary: 'Make an API key for one agent, a service that speaks for several, or a person. It is shown once.',
  route: { method: 'POST', path: '/keys/create' },
  mutates: true,
  standard: false,
  administers: true,
  examples: [
    'cox key create --agent alice --agent-type codex --expires-days 90',
    'cox key create --service --name orchestrator',
    'cox key create --person bob',
  ],
  sample: { agent: 'alice', agent_type: 'codex', expires_days: 90 },
  input: async () => (await import('./schemas.ts')).createKey,
  async handle(input, step) {
    const secret = newSecret();
    const id = newSecretName();
    const identity = identityOf(input);
    const valid_ms = input.expires_days === undefined ? undefined : Math.ceil(input.expires_days * DAY_MS);
    const created_by = step.caller.agent_id;
    const key = { ...identity, id, hash: secretHash(secret), created_by, valid_ms };
    const answer = answerOf(await step.run(decideCreate(key)));
    if (isRefusal(answer)) return answer;
    // The committed answer is in the log, so the secret is added only here, and only in the call that created
    // this very key: a call that repeats an operation id has generated another secret, which opens nothing.
    if (answer.key_id === id) return { ...answer, key: keyText(identity.role, id, secret) };
    const message = 'This call was made before; the key was shown then, and is shown only once.';
    return { ...answer, message };
  },
} satisfies Operation<CreateKeyInput>;

export const listKeys = {
  name: 'list_keys',
  group: 'key',
  verb: 'list',
  summary: 'The API keys: whose they are and until when. Never the keys themselves.',
  route: { method: 'POST', path: '/keys/list' },
  mutates: false,
  standard: false,
  administers: true,
  examples: ['cox key list', 'cox key list --all --json'],
  sample: { all: true },
  input: async () => (await import('./schemas.ts')).listKeys,
  async handle(input, step) {
    const { loaded, now_ms } = await step.find(everyKey);
    return list(loaded, now_ms, input.all);
  },
} satisfies Operation<{ all: boolean }>;

export const revokeKey = {
  name: 'revoke_key',
  group: 'key',
  verb: 'revoke',
  summary: 'Make a key open nothing any more, in two seconds at the latest; listeners to events in fifteen.',
  route: { method: 'POST', path: '/keys/revoke' },
  mutates: true,
  standard: false,
  administers: true,
  positional: ['key_id'],
  examples: ['cox key revoke 3f9a2c81d04e'],
  sample: { key_id: '3f9a2c81d04e' },
  input: async () => (await import('./schemas.ts')).revokeKey,
  handle: async ({ key_id }, step) => answerOf(await step.run(decideRevoke(key_id, step.caller.agent_id))),
} satisfies Operation<{ key_id: string }>;
