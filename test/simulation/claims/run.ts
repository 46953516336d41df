import type { JsonObject } from '../../../src/kernel/json.ts';
import { insist } from '../model.ts';
import { spread } from '../random.ts';
import { comeToRest, letGo, passTime, type Run, SimulationFailure } from '../run.ts';
import { World } from '../world.ts';
import { ClaimAgent, Person } from './agents.ts';
import { endOf, sameAsLive } from './model-claims.ts';
import { EDGES, FEATURES, fleetOf, MINUTE_MS, pairNamed, STALE_MS, type Terms, TTL_MS } from './rules.ts';

/** One run of a fleet and its people: they do as they please, then everything comes to rest; the promises hold at every step. */
export async function simulateClaims(seed: number, trace?: (line: string) => void): Promise<Run> {
  const terms: Terms = { ttl_ms: seed % 3 === 0 ? TTL_MS : undefined, auto_release: seed % 4 === 0 };
  const world = new World(seed, trace, fleetOf(terms));
  world.model.claims.terms = terms;
  try {
    const count = world.random.between(2, 4);
    const agents = Array.from({ length: count }, (_, index) => new ClaimAgent(world, `agent${index + 1}`));
    const people = [new Person(world, 'ann'), new Person(world, 'bob')];
    const steps = world.random.between(40, 90);
    for (let step = 0; step < steps; step += 1) await oneStep(world, agents, people);
    await comeToRest(world);
    await takeOver(world);
    await world.checkReplay();
  } catch (error) {
    throw new SimulationFailure(seed, error, '--claims');
  }
  return { counts: world.counts, log: JSON.stringify(world.log) };
}

const STEPS = spread({
  resume: 40,
  act: 34,
  person: 22,
  time: 12,
  crash: 2,
  die: 1,
  leave: 1,
  confuse: 6,
  replay: 1,
});

async function oneStep(
  world: World,
  agents: readonly ClaimAgent[],
  people: readonly Person[],
): Promise<void> {
  const { random, scheduler } = world;
  const agent = random.pick(agents);
  const parked = scheduler.parked.length === 0 ? undefined : random.pick(scheduler.parked);
  switch (random.pick(STEPS)) {
    case 'time':
      return passTime(world);
    case 'crash':
      return agent.crash();
    case 'confuse':
      return await agent.confuse();
    case 'replay':
      return await world.checkReplay();
    case 'person':
      return await random.pick(people).act();
    case 'die':
      if (parked === undefined) return;
      world.count('died in the middle');
      scheduler.drop(parked);
      world.calls.delete(parked.owner);
      return;
    case 'leave':
      if (parked?.where !== 'waiting') return;
      world.count('went away while waiting');
      parked.owner.gone.abort();
      return await letGo(world, parked);
    case 'resume':
      if (parked !== undefined) return await letGo(world, parked);
      return await agent.act();
    case 'act':
      return await agent.act();
  }
}

/** All agents are gone: a person frees what is left, and a newcomer can do all of it. Nothing is stuck for ever. */
async function takeOver(world: World): Promise<void> {
  world.moveClock(world.clock_ms_max - world.clock_ms + STALE_MS + MINUTE_MS);
  const ask = caller(world, 'person:last', 'person');
  const { claims } = await ask('claims_status', {});
  for (const pair of world.model.claims.all.values()) {
    insist(sameAsLive(pair, await world.live('claim', pair.id)), 'the record says otherwise', pair);
    if (pair.grant !== undefined && endOf(pair) > world.clock_ms)
      insist(pair.said, 'silent, and nobody said so', pair);
  }
  for (const { feature, edge } of claims as JsonObject[]) {
    const freed = await ask('resolve_stale_claim', { feature, edge, decision: 'release' });
    insist(freed.success === true, 'a person could not free it', freed);
  }
  const work = caller(world, 'newcomer');
  for (const feature of FEATURES)
    for (const edge of EDGES) {
      const claimed = await work('claim_edge', { feature, edge, agent_role: 'full_stack' });
      insist(claimed.success === true, 'stuck for ever', pairNamed(feature, edge), claimed);
      const done = await work('converge_edge', { feature, edge });
      insist(done.success === true, 'can’t be ended', pairNamed(feature, edge), done);
    }
  world.count('taken over');
}

function caller(world: World, name: string, authority?: 'person') {
  const connection = world.connect(name, `${name}-1`, authority);
  let sequence = 0;
  return async (operation: string, input: JsonObject): Promise<JsonObject> => {
    sequence += 1;
    const { answer } = await world.begin(connection, operation, input, sequence, () => {});
    insist(answer !== undefined, 'no answer although nothing stood in the way', operation);
    return answer;
  };
}
