import * as board from '../features/board/commands.ts';
import * as claims from '../features/claims/commands.ts';
import * as handoffs from '../features/handoffs/commands.ts';
import * as keys from '../features/keys/commands.ts';
import * as locks from '../features/locks/commands.ts';
import * as mail from '../features/mail/commands.ts';
import * as network from '../features/network/commands.ts';
import * as promotion from '../features/promotion/commands.ts';
import * as queue from '../features/queue/commands.ts';
import * as sessions from '../features/sessions/commands.ts';
import * as reclaim from '../features/sessions/reclaim-commands.ts';
import * as trust from '../features/trust/commands.ts';
import { countCall } from '../features/trust/enforcement/index.ts';
import * as verification from '../features/verification/commands.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Commands, Decision } from '../ledger/decision.ts';
import { consequence } from './approval-consequences.ts';

type Build = (...args: never[]) => Decision<JsonObject>;

const slices = [
  reclaim,
  { countCall },
  locks,
  queue,
  sessions,
  handoffs,
  verification,
  promotion,
  mail,
  keys,
  trust,
  claims,
  board,
  network,
];

function named(): Map<string, Build> {
  const all = new Map<string, Build>();
  for (const exported of slices.flatMap((slice) => Object.values(slice)))
    if (typeof exported === 'function' && 'command_name' in exported)
      all.set(exported.command_name, exported.build as unknown as Build);
  for (const [name, build] of trust.wrappingCommands(all, consequence)) all.set(name, build);
  return all;
}

/** Every decision that one process may make for another, by its name. */
export const commands: Commands = named();
