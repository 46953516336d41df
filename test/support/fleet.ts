import { type ClaimRules, DEFAULT_RULES } from '../../src/features/claims/claim-rules.ts';
import { noFleet } from '../../src/features/claims/fleet/fleet.ts';
import { profileEnforcement } from '../../src/features/trust/enforcement/profile-enforcer.ts';
import { RulebookReader } from '../../src/features/trust/rules/rulebook-reader.ts';
import { createIds, systemRandom } from '../../src/kernel/ids.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import type { Actor, LogEntry } from '../../src/ledger/log.ts';
import { Connection } from '../../src/runtime/coordinator.ts';
import type { CoordinatorContext } from '../../src/runtime/coordinator-context.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import type { Authority } from '../../src/runtime/operation.ts';
import { placeServices } from '../../src/runtime/place-services.ts';
import { ask, type Call } from './asking.ts';

export type { Call };

/** Roles as the seeds' example has them. */
export const SEED_RULES: ClaimRules = {
  ...DEFAULT_RULES,
  file: 'agent_roles.yml',
  roles: {
    architect: { converge_edges: ['intent_requirements', 'requirements_design', 'design_code'] },
    tdd_engineer: { converge_edges: ['code_unit_tests', 'design_test_cases'] },
    full_stack: { converge_edges: ['all'] },
  },
};

/** Agents and people of one fleet on an opened store, under rules that no file has to say. */
export class TestFleet {
  rules: ClaimRules;
  readonly #coxswain: Coxswain;
  readonly #context: CoordinatorContext;

  constructor(coxswain: Coxswain, rules: ClaimRules = SEED_RULES) {
    this.#coxswain = coxswain;
    this.rules = rules;
    const { store, clock, workspace, project, presence } = coxswain;
    const ruling = new RulebookReader(store, project, clock);
    this.#context = {
      store,
      clock,
      ids: createIds(clock, systemRandom),
      workspace,
      project,
      presence,
      enforcement: profileEnforcement(ruling),
      services: placeServices({ rules: ruling, fleet: { ...noFleet, rules: async () => this.rules } }),
    };
  }

  agent(agent_id: string, session_id = `session-${agent_id}`): Call {
    return this.#connect({ agent_id, agent_type: 'test', session_id }, 'operator');
  }

  /** A proven person, beside any transport. */
  person(name = 'ann'): Call {
    return this.#connect({ agent_id: `person:${name}`, agent_type: 'person', session_id: name }, 'person');
  }

  #connect(actor: Actor, authority: Authority): Call {
    const connection = new Connection(this.#context, actor, authority);
    return (name, input) => ask(connection, name, input);
  }

  /** The rows in which something happened to the claims of a feature, in order. */
  async rows(feature: string): Promise<LogEntry[]> {
    const { store, project } = this.#coxswain;
    const rows: LogEntry[] = [];
    for (let position = 0; ; ) {
      const { entries } = await store.read(project, position, 1000);
      rows.push(...entries.filter(({ events }) => events.some((event) => isAbout(event, feature))));
      const last = entries.at(-1);
      if (last === undefined) return rows;
      position = last.position;
    }
  }

  /** What happened to the claims of a feature, in order. */
  async events(feature: string): Promise<EventBody[]> {
    const rows = await this.rows(feature);
    return rows.flatMap(({ events }) => events.filter((event) => isAbout(event, feature)));
  }

  /** The same in words: `edge_started a`. */
  async story(feature: string): Promise<string[]> {
    return (await this.events(feature)).map(({ type }) => type);
  }
}

function isAbout({ kind, data }: EventBody, feature: string): boolean {
  return kind === 'claim' && data.feature === feature;
}

/** A person looks at what waits and decides about exactly that. */
export async function decide(person: Call, approval_id: string, verdict: 'approve' | 'deny_approval') {
  const { approval } = await person('show_approval', { approval_id });
  const { shown_hash } = approval as JsonObject;
  return await person(verdict, { approval_id, shown_hash, reason: 'looked at it' });
}
