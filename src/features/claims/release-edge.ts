import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { type Decision, refused } from '../../ledger/decision.ts';
import type { ClaimCommand } from './acting.ts';
import { commitUnder, decideOnClaim, named, notHolder, superseded } from './claim-context.ts';
import { released } from './released.ts';

export interface ReleaseEdge extends ClaimCommand {
  readonly reason?: string | undefined;
}

/** The holder releases it; no other agent can, whatever it says about itself. */
export function releaseEdge(command: ReleaseEdge): Decision<JsonObject> {
  return decideOnClaim(command, (scene) => {
    const { current, caller } = scene;
    const about = named(command);
    switch (current.standing) {
      case 'superseded':
        return refused(superseded(scene, current.lease));
      case 'taken':
        return refused(notHolder(scene, current.lease));
      case 'free':
        return refused(refuse('not_held', `Nobody holds ${about.edge} on ${about.feature}.`, about));
      case 'mine': {
        const { agent_id } = caller;
        const reason = command.reason ?? 'released by its holder';
        const event = released(command, current.lease, 'holder', agent_id, reason);
        const answer = {
          success: true,
          action: 'edge_released',
          ...about,
          agent_id,
          reason,
          fencing_token: current.lease.token,
        };
        return commitUnder({ lease: current.lease, events: [] }, [event], answer);
      }
    }
  });
}
