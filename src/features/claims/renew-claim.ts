import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Decision, refused } from '../../ledger/decision.ts';
import type { ClaimCommand } from './acting.ts';
import { commitUnder, decideOnClaim, expiresAt, named, ownGrant, prolonged } from './claim-context.ts';
import { claimEvent } from './edge-claim.ts';

export interface HeartbeatClaim extends ClaimCommand {
  readonly iteration?: number | undefined;
  readonly note?: string | undefined;
}

/** The holder is still working; with a number, it has completed that iteration. */
export function heartbeatClaim(command: HeartbeatClaim): Decision<JsonObject> {
  return decideOnClaim(command, (scene) => {
    const own = ownGrant(scene);
    if ('refusal' in own) return refused(own.refusal);
    const { agent_id } = scene.caller;
    const { iteration, note } = command;
    const lease = prolonged(scene, own.lease);
    const type = iteration === undefined ? 'claim_renewed' : 'iteration_completed';
    const event = claimEvent(command, type, { agent_id, iteration, note, lease: { ...lease } });
    return commitUnder(own, [event], {
      success: true,
      ...named(command),
      agent_id,
      iteration,
      last_active: isoTime(scene.now_ms),
      expires_at: expiresAt(lease),
      fencing_token: lease.token,
    });
  });
}
