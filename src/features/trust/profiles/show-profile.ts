import type { JsonObject } from '../../../kernel/json.ts';
import type { Profile, Standing } from '../profile.ts';
import { isBuiltin, type RulebookState } from '../rulebook.ts';
import { showDuration, UNLIMITED } from './duration.ts';

/** As the seed writes it, so that a limit that is not set is seen as well. */
const NO_LIMITS = {
  max_file_modifications: UNLIMITED,
  max_file_reads: UNLIMITED,
  max_execution_time: UNLIMITED,
  max_api_calls_per_hour: UNLIMITED,
  max_spawned_agents: UNLIMITED,
};

/** A profile in the words that can be used to set it again. */
export function describeProfile(profile: Profile): JsonObject {
  const { name, agent_types, resource_limits, connection, network_default, ...rest } = profile;
  const { max_execution_seconds, ...counts } = resource_limits;
  return {
    name,
    ...(agent_types[0] === undefined ? {} : { agent_type: agent_types[0] }),
    agent_types: [...agent_types],
    ...(rest as unknown as JsonObject),
    ...(connection === undefined ? {} : { connection }),
    ...(network_default === undefined ? {} : { network_default }),
    resource_limits: {
      ...NO_LIMITS,
      ...counts,
      ...(max_execution_seconds === undefined
        ? {}
        : { max_execution_time: showDuration(max_execution_seconds) }),
    },
  };
}

/** Its origin: as shipped, shipped and changed here, or made here. */
export function originOf(state: RulebookState | undefined, name: string): 'shipped' | 'edited' | 'made_here' {
  if (!isBuiltin(name)) return 'made_here';
  return state !== undefined && Object.hasOwn(state.profiles, name) ? 'edited' : 'shipped';
}

/** Why an agent has this profile, in a sentence. */
export function whyThisProfile({ profile, source, trust_level }: Standing, agent_type: string): string {
  const why = {
    agent: `${profile.name} is assigned to you`,
    agent_type: `${profile.name} is the profile of agents of the type ${agent_type}`,
    default: `no profile is for agents of the type ${agent_type}, so you have ${profile.name}`,
  }[source];
  const less =
    trust_level < profile.trust_level
      ? `; your trust is ${trust_level} instead of its ${profile.trust_level}`
      : '';
  return `${why}${less}.`;
}
