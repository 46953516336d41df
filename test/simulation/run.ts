import type { JsonObject } from '../../src/kernel/json.ts';
import { Agent } from './agents.ts';
import { insist } from './model.ts';
import { isEnded, mayNotWait, type Task } from './model-tasks.ts';
import { spread } from './random.ts';
import type { Parked } from './scheduler.ts';
import { type Call, World } from './world.ts';

const MINUTE_MS = 60_000;

export interface Run {
  readonly counts: ReadonlyMap<string, number>;
  /** The whole log as text. */
  readonly log: string;
}

export class SimulationFailure extends Error {
  override name = 'SimulationFailure';
  constructor(seed: number, cause: unknown, of = '') {
    const what =
      cause instanceof Error ? (cause.name === 'Violation' ? cause.message : cause.stack) : String(cause);
    super(`seed ${seed}: ${what}\nto see it again: npm run simulate -- ${of} --seed ${seed} --trace`, {
      cause,
    });
  }
}

/** One run: agents do as they please, then everything comes to rest, and the promises hold at every step. */
export async function simulate(seed: number, trace?: (line: string) => void): Promise<Run> {
  const world = new World(seed, trace);
  try {
    const agents = Array.from(
      { length: world.random.between(3, 6) },
      (_, index) => new Agent(world, `agent${index + 1}`),
    );
    const steps = world.random.between(40, 90);
    for (let step = 0; step < steps; step += 1) await oneStep(world, agents);
    await comeToRest(world);
    await drain(world);
    await world.checkReplay();
  } catch (error) {
    throw new SimulationFailure(seed, error);
  }
  return { counts: world.counts, log: JSON.stringify(world.log) };
}

const STEPS = spread({ resume: 45, act: 38, time: 10, crash: 2, die: 1, leave: 2, confuse: 3, replay: 1 });
const TIMES = spread({ tick: 25, moment: 40, pause: 25, back: 8, day: 1 });

async function oneStep(world: World, agents: readonly Agent[]): Promise<void> {
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
    case 'die':
      if (parked === undefined) return;
      // Its process died in the middle: no caller will ever hear of it, and it may or may not have committed.
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

export async function letGo(world: World, parked: Parked<Call>): Promise<void> {
  world.trace?.(`${parked.owner.session_id} ${parked.owner.sequence} goes on from ${parked.where}`);
  await world.scheduler.resume(parked);
  await world.afterStep(parked.owner);
}

export function passTime(world: World): void {
  const { random } = world;
  const how = random.pick(TIMES);
  world.count(`time: ${how}`);
  if (how === 'tick') world.moveClock(random.between(1, 50));
  if (how === 'moment') world.moveClock(random.between(1000, 60_000));
  if (how === 'pause') world.moveClock(random.between(2, 40) * MINUTE_MS);
  if (how === 'back') world.moveClock(-random.between(1, 300_000));
  if (how === 'day') world.moveClock(25 * 60 * MINUTE_MS);
}

export async function comeToRest(world: World): Promise<void> {
  world.calm = true;
  world.trace?.('all calls come to their end');
  while (world.scheduler.parked.length > 0) await letGo(world, world.random.pick(world.scheduler.parked));
  insist(world.calls.size === 0, 'a call without an end');
}

/** Fresh agents work until nothing is left: what is not done then has a reason that one can read. */
async function drain(world: World): Promise<void> {
  // The clock may have been set back: only from its latest time on is it certain that every delay is in the past.
  world.moveClock(world.clock_ms_max - world.clock_ms);
  const connection = world.connect('drainer', 'drainer-1');
  let sequence = 0;
  const ask = async (operation: string, input: JsonObject): Promise<JsonObject> => {
    sequence += 1;
    const { answer } = await world.begin(connection, operation, input, sequence, () => {});
    insist(answer !== undefined, 'no answer although nothing stood in the way', operation);
    return answer;
  };
  const open = () => [...world.model.tasks.all.values()].filter((task) => !isEnded(task));
  for (
    let round = 0;
    round < 12 && (round === 0 || open().some(({ status }) => status !== 'waiting'));
    round += 1
  ) {
    world.moveClock(15 * MINUTE_MS);
    for (let found = true; found; ) {
      const { success, task_id } = await ask('get_work', { lease_minutes: 10 });
      found = success === true;
      if (found) await ask('complete_work', { task_id, success: true });
    }
  }
  for (const task of open()) await checkLeft(world, task);
  for (const task of world.model.tasks.all.values()) if (task.status === 'skipped') checkSkipped(world, task);
}

async function checkLeft(world: World, task: Task): Promise<void> {
  const parents = task.depends_on.map((id) => world.model.tasks.of(id));
  insist(task.status === 'waiting' && !mayNotWait(task, parents), 'stuck for ever', task);
  const failed = parents.filter((parent) => parent.status !== 'completed' && isEnded(parent));
  const held = failed.filter(({ id }) => task.policy !== 'run' && !task.waived.has(id)).map(({ id }) => id);
  // A parent that was skipped and came back may itself be blocked now; that it once failed stays said until it is done.
  const truly = new Set([...held, ...task.waived, ...task.told]);
  const said = [...((await world.live('task', task.id)).failed_dependencies as string[])].sort();
  insist(JSON.stringify(said) === JSON.stringify([...truly].sort()), 'blocked in silence', task, said);
  world.count('left blocked, and says why');
}

/** Everything that could be done has been: a task that is still skipped has a dependency that is not done. */
function checkSkipped(world: World, task: Task): void {
  insist(task.told.size > 0, 'skipped without a reason', task);
  for (const id of task.told)
    insist(world.model.tasks.of(id).status !== 'completed', 'skipped for what is done', task);
  world.count('left skipped, and says why');
}
