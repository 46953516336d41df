import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Decision } from '../../src/ledger/decision.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { deliberate, LoadedSet } from '../../src/ledger/proposal.ts';
import { apply, type State } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';
import { load, NOON_MS } from './decider-spec.ts';

/** What there is at one moment. */
export interface World {
  readonly state: State;
  readonly now_ms: number;
}

/** Everything that can be asked for, again and again, until nothing new comes of it. */
export interface Walk {
  /** What there is to begin with is decided first. */
  readonly beginning?: readonly Decision<JsonObject>[];
  readonly moves: readonly Decision<JsonObject>[];
  /** So much time may pass instead of a move. */
  readonly pause_ms: number;
  readonly steps_max: number;
  /** Whose transitions are looked at. */
  readonly kind: string;
  status(state: JsonObject): string;
  /** Two worlds with the same essence are the same to every decider. */
  essence(world: World): string;
}

/** `status --event--> status` of everything that can happen, event by event: also what is only passed through. */
export function transitionsOf({
  beginning = [],
  moves,
  pause_ms,
  steps_max,
  essence,
  ...whose
}: Walk): Set<string> {
  const transitions = new Set<string>();
  const known = new Set<string>();
  const after = (world: World, decision: Decision<JsonObject>) =>
    follow(world, eventsOf(decision, world), whose, transitions);
  let front = [beginning.reduce(after, { state: new Map(), now_ms: NOON_MS })];
  for (let step = 0; step < steps_max && front.length > 0; step += 1) {
    const next: World[] = [];
    for (const world of front) {
      const later = { state: world.state, now_ms: world.now_ms + pause_ms };
      const reached = moves.map((decision) => after(world, decision));
      for (const each of [later, ...reached]) {
        const text = essence(each);
        if (!known.has(text)) next.push(each);
        known.add(text);
      }
    }
    front = next;
  }
  return transitions;
}

/** What a decision would write; nothing if it is refused. */
function eventsOf(decision: Decision<JsonObject>, { state, now_ms }: World): readonly EventBody[] {
  const loaded = new LoadedSet();
  const rounds = deliberate(decision, loaded, () => now_ms);
  let step = rounds.next();
  while (!step.done) {
    load(state, step.value, loaded);
    step = rounds.next();
  }
  return step.value.verdict === 'commit' ? step.value.events : [];
}

/** The world after these events, each of which is passed through. */
function follow(
  world: World,
  events: readonly EventBody[],
  { kind, status }: Pick<Walk, 'kind' | 'status'>,
  transitions: Set<string>,
): World {
  if (events.length === 0) return world;
  const state = new Map(world.state);
  for (const event of events) {
    const statusNow = () => {
      const found = state.get(`${event.kind}/${event.id}`)?.state;
      return found === undefined || event.kind !== kind ? 'nothing' : status(found);
    };
    const before = statusNow();
    const row = { position: state.size, at_ms: world.now_ms, events: [event] };
    apply(entities, state, row as unknown as LogEntry);
    if (event.kind === kind) transitions.add(`${before} --${event.type}--> ${statusNow()}`);
  }
  return { state, now_ms: world.now_ms };
}

/** The transitions as a page of docs/ draws them, and as the table below the drawing lists them. */
export function drawnIn(page: string): string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const found: string[] = [];
  for (const [, from = '', to = '', event = ''] of text.matchAll(/^ +(\S+) --> (\w+): (\w+)$/gm))
    found.push(`${from === '[*]' ? 'nothing' : from} --${event}--> ${to}`);
  const [, table = ''] = text.split('## Events that leave the status as it is');
  for (const [, event = '', statuses = ''] of table.matchAll(/^\| `(\w+)` \| (.+) \|$/gm))
    for (const status of statuses.split(', ')) found.push(`${status} --${event}--> ${status}`);
  return found.sort();
}
