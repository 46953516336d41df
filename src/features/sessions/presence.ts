import type { Clock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { unusableSetting } from '../../kernel/refusal.ts';
import type { Decision } from '../../ledger/decision.ts';
import type { Actor } from '../../ledger/log.ts';
import type { PresenceSettings } from '../../runtime/coxswain.ts';
import type { PresenceTracker, Step } from '../../runtime/operation.ts';
import type { SignOfLife } from './change-session.ts';
import { touchSession } from './commands.ts';
import { reclaimFromDeadSessions } from './reclaim-from-dead-sessions.ts';

/** How often callers that are turned away check whether the holder of what they want has died. */
const LOOK_MS = 10_000;

/** Tracks which sessions are alive, for all connections of one opened store together. */
export class Presence implements PresenceTracker {
  readonly touch_ms: number;
  readonly idle_ms: number;
  readonly stale_ms: number;
  readonly #clock: Clock;
  #looked_ms = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, settings: PresenceSettings = {}) {
    this.#clock = clock;
    this.touch_ms = settings.touch_ms ?? limits.session_touch_ms;
    this.idle_ms = settings.idle_ms ?? limits.session_idle_minutes_default * 60_000;
    this.stale_ms = settings.stale_ms ?? limits.session_stale_minutes_default * 60_000;
  }

  async reclaim(step: Step): Promise<boolean> {
    return this.#timeToLook() && (await reclaimFromDeadSessions(step, this.stale_ms));
  }

  sign(actor: Actor, sign: SignOfLife): Decision<JsonObject> {
    return touchSession(actor, sign);
  }

  /** Limits how often it checks for sessions that were silent for too long. */
  #timeToLook(): boolean {
    const now_ms = this.#clock.elapsed_ms();
    if (now_ms - this.#looked_ms < Math.min(LOOK_MS, this.stale_ms)) return false;
    this.#looked_ms = now_ms;
    return true;
  }
}

function minutes(env: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!(value > 0)) throw unusableSetting(name, `minutes, more than 0, not ${JSON.stringify(text)}`);
  return value * 60_000;
}

export function presenceSettings(env: NodeJS.ProcessEnv): PresenceSettings {
  return { idle_ms: minutes(env, 'COX_IDLE_MINUTES'), stale_ms: minutes(env, 'COX_STALE_MINUTES') };
}
