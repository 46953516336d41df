import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, refused } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import { type ClaimState, heldClaims, staleClaims } from './edge-claim.ts';

/** The one agent of a project in single mode. */
export interface SingleAgent {
  /** The name it holds claims under: `primary` if it was given none. */
  readonly agent_id: string;
  /** The name its door uses for it. */
  readonly caller_id: string;
}

export const SECOND_AGENT = ['refuse', 'switch'] as const;
export type SecondAgent = (typeof SECOND_AGENT)[number];

export const CLAIM_MODES = ['single', 'many'] as const;

export interface ClaimMode {
  readonly mode: (typeof CLAIM_MODES)[number];
  /** What happens to a second agent that arrives while the first is active. */
  readonly second_agent: SecondAgent;
  /** Remains known in multi-agent mode: the agent ends what it began alone under the same name. */
  readonly agent?: SingleAgent | undefined;
  /** No person has set it: an agent without a name came when no other agent was there. */
  readonly by_default?: true | undefined;
}

const MANY: ClaimMode = { mode: 'many', second_agent: 'switch' };

/** One record that every claim is decided against: a change of mode and a claim can't both win. */
export const claimModeKey: EntityKey = { kind: 'claim_mode', id: 'all' };

export const claimModeEntity: EntityType<ClaimMode> = {
  kind: claimModeKey.kind,
  steady: true,
  everyones: true,
  evolve(state = MANY, { type, data }) {
    switch (type) {
      case 'claim_mode_changed': {
        const { mode, second_agent, agent, by_default } = data as unknown as ClaimMode;
        return { mode, second_agent, agent: agent ?? state.agent, by_default };
      }
      case 'single_agent_changed': {
        const { agent_id, caller_id } = data as unknown as SingleAgent;
        return { ...state, agent: { agent_id, caller_id } };
      }
      default:
        throw new Error(`unknown event of the claim mode: ${type}`);
    }
  },
  index: () => ({}),
};

export function claimModeIn(loaded: Loaded): ClaimMode {
  return loaded.get<ClaimMode>(claimModeKey)?.state ?? MANY;
}

/** Neither a person nor the arrival of a second agent has decided how many agents there are. */
export function isModeOpen(loaded: Loaded): boolean {
  return loaded.get<ClaimMode>(claimModeKey) === undefined;
}

export function modeChanged(
  mode: ClaimMode,
  cause: 'operator' | 'second_agent' | 'unconfigured',
  changed_by: string,
): EventBody {
  const agent = mode.agent === undefined ? {} : { agent: { ...mode.agent } };
  const { mode: to, second_agent } = mode;
  const by_default = cause === 'unconfigured' ? { by_default: true } : {};
  const data = { mode: to, second_agent, ...agent, ...by_default, cause, changed_by };
  return { ...claimModeKey, type: 'claim_mode_changed', data };
}

export function agentChanged({ agent_id, caller_id }: SingleAgent): EventBody {
  return { ...claimModeKey, type: 'single_agent_changed', data: { agent_id, caller_id } };
}

export interface SetClaimMode {
  readonly mode: ClaimMode['mode'];
  readonly second_agent: SecondAgent;
  readonly changed_by: string;
}

/** Single mode requires a single agent: it is refused while several agents hold claims. */
export function setClaimMode({ mode, second_agent, changed_by }: SetClaimMode): Decision<JsonObject> {
  const ranges = mode === 'single' ? [heldClaims, staleClaims] : [];
  return {
    needs: { keys: [claimModeKey], ranges },
    decide(loaded) {
      const before = claimModeIn(loaded);
      const held = ranges.flatMap((range) => loaded.list<ClaimState>(range));
      const holders = [...new Set(held.map(({ state }) => state.lease?.agent_id ?? ''))];
      if (holders.length > 1) {
        const message = `${holders.length} agents hold claims: ${holders.slice(0, 5).join(', ')}.`;
        return refused(refuse('wrong_status', message, { holders }));
      }
      const answer = { success: true, mode, second_agent };
      const isSame = before.mode === mode && before.second_agent === second_agent;
      if (isSame && before.by_default !== true && !isModeOpen(loaded))
        return commit([], { ...answer, changed: false });
      const [only] = holders;
      const alone = only === undefined || only === before.agent?.agent_id;
      const agent = alone ? undefined : { agent_id: only, caller_id: only };
      const event = modeChanged({ mode, second_agent, agent }, 'operator', changed_by);
      return commit([event], { ...answer, changed: true });
    },
  };
}
