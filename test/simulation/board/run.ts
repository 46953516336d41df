import type { JsonObject } from '../../../src/kernel/json.ts';
import { insist } from '../model.ts';
import { spread } from '../random.ts';
import { comeToRest, letGo, passTime, type Run, SimulationFailure } from '../run.ts';
import { World } from '../world.ts';
import { BoardAgent, Judge } from './agents.ts';

const AGENTS = ['anna', 'bert', 'carl'];
const HOUR_MS = 3_600_000;

/** Some are never content. */
const isPicky = (seed: number) => seed % 4 === 1;

/** The rules of one run: every combination comes up. */
function configurationOf(seed: number): JsonObject {
  const standing = isPicky(seed)
    ? ['review', 'ignore', 'ignore']
    : ['review', undefined, 'claim', undefined, 'exclusive'];
  return {
    bid_deadline_seconds: seed % 3 === 0 ? 0 : 60,
    review_seconds: 1800,
    parallel_seconds: 2400,
    on_failure: seed % 2 === 0 ? 'retry' : 'terminate',
    max_attempts: 2,
    max_review_iterations: seed % 5 === 0 ? 0 : 1,
    agents: AGENTS.map((agent_id, index) => {
      const bidding = standing[(Math.floor(seed / 4) + index * 2) % standing.length];
      return { agent_id, role: `role of ${agent_id}`, ...(bidding === undefined ? {} : { bidding }) };
    }),
  };
}

/** One run of a board: every participant does as it pleases, then everything comes to rest; the promises hold at every step. */
export async function simulateBoard(seed: number, trace?: (line: string) => void): Promise<Run> {
  const world = new World(seed, trace);
  const configuration = configurationOf(seed);
  try {
    const operator = caller(world, 'operator');
    world.calm = true;
    await operator('configure_board', configuration);
    for (const name of ['anna', 'bert'])
      await caller(world, name, `first-${name}`)('publish_artefact', { type: 'Goal', payload: 'the first' });
    world.calm = false;
    // Two orchestrators run the same agents, and one of the agents is also there by itself.
    const runners = ['one', 'two'].flatMap((host) =>
      AGENTS.map((name) => new BoardAgent(world, name, `${host}-${name}`, isPicky(seed))),
    );
    const crew = [
      ...runners,
      new BoardAgent(world, 'dora', 'dora'),
      new BoardAgent(world, 'anna', 'self-anna'),
    ];
    const judge = new Judge(world);
    const steps = world.random.between(80, 160);
    for (let step = 0; step < steps; step += 1) await oneStep(world, crew, judge);
    await comeToRest(world);
    await finish(world, operator, configuration);
    await world.checkReplay();
  } catch (error) {
    throw new SimulationFailure(seed, error, '--board');
  }
  return { counts: world.counts, log: JSON.stringify(world.log) };
}

const STEPS = spread({
  resume: 44,
  act: 48,
  time: 10,
  crash: 3,
  die: 2,
  leave: 1,
  confuse: 4,
  judge: 8,
  replay: 1,
});

async function oneStep(world: World, crew: readonly BoardAgent[], judge: Judge): Promise<void> {
  const { random, scheduler } = world;
  const agent = random.pick(crew);
  const parked = scheduler.parked.length === 0 ? undefined : random.pick(scheduler.parked);
  switch (random.pick(STEPS)) {
    case 'time':
      return passTime(world);
    case 'crash':
      return agent.crash();
    case 'confuse':
      return await agent.confuse();
    case 'judge':
      return await judge.act();
    case 'replay':
      return await world.checkReplay();
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

type Ask = (operation: string, input: JsonObject) => Promise<JsonObject>;

/** Every agent is asked, none says anything for hours: each claim comes to an end, or can be ended by a word. */
async function finish(world: World, operator: Ask, configuration: JsonObject): Promise<void> {
  const { board } = world.model;
  world.moveClock(world.clock_ms_max - world.clock_ms);
  // An orchestrator starts again: its file is read, and the roster is what it says.
  await operator('configure_board', configuration);
  for (let round = 0; round < 12 && board.open().length > 0; round += 1) {
    for (const claim of board.open())
      for (const name of claim.awaited)
        await caller(
          world,
          name,
          `last-${round}-${claim.id}`,
        )('place_bid', { claim_id: claim.id, bid: 'ignore' });
    await operator('board_status', {});
    world.moveClock(HOUR_MS);
    await operator('board_status', {});
  }
  insist(board.open().length === 0, 'stuck for ever', board.open());
  for (const claim of board.claims.values()) {
    const { status, termination_reason } = await world.live('board_claim', claim.id);
    const said = status === 'complete' ? 'complete' : termination_reason;
    insist(said === claim.ended, 'the record says otherwise', claim.id, said, claim.ended);
    world.count(`ended: ${claim.ended}`);
  }
  for (const name of AGENTS) {
    const { grants, open_bids } = await caller(world, name, `after-${name}`)('my_grants', {});
    insist(
      [...(grants as []), ...(open_bids as [])].length === 0,
      'something to do on claims that are over',
      name,
    );
  }
}

function caller(world: World, name: string, session_id = `${name}-last`): Ask {
  const connection = world.connect(name, session_id, 'operator');
  let sequence = 0;
  return async (operation, input) => {
    sequence += 1;
    const { answer } = await world.begin(connection, operation, input, sequence, () => {});
    insist(answer !== undefined, 'no answer although nothing stood in the way', operation);
    return answer;
  };
}
