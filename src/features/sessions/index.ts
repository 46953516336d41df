/** What other slices, the runtime and the transports may use of sessions. */

export { Presence, presenceSettings } from './presence.ts';
export { resolveSessionToken } from './session-token.ts';
export {
  agentsWithCapability,
  discoverAgents,
  discoverNeeds,
  heardSince,
  isHere,
  type SessionState,
  type SessionStatus,
  sessionKey,
  silentSince,
  stillFreeing,
} from './state.ts';
