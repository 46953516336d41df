import type { PortLease } from '../../../src/features/port-blocks/decide-ports.ts';
import { createPorts, type Ports } from '../../../src/features/port-blocks/ports.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { isRefusal, type Refusal } from '../../../src/kernel/refusal.ts';

const nothingListens = async () => false;

/** A wall clock that a test sets; all else runs as it does. */
export function settableClock(): Clock & { set_ms: number } {
  const clock = { ...systemClock, set_ms: 1_790_000_000_000, now_ms: () => clock.set_ms };
  return clock;
}

export function portsIn(
  folder: string,
  settings: Record<string, string> = {},
  clock: Clock = systemClock,
  isTaken: (db_port: number) => Promise<boolean> = nothingListens,
): Ports {
  return createPorts({ COX_STATE_DIR: folder, ...settings }, clock, isTaken);
}

export function codeOf(answer: PortLease | Refusal | boolean | object): unknown {
  return typeof answer === 'object' && 'success' in answer && isRefusal(answer as Refusal)
    ? (answer as Refusal).error
    : undefined;
}

export function portOf(answer: PortLease | Refusal): number {
  if ('success' in answer) throw new Error(answer.message);
  return answer.db_port;
}
