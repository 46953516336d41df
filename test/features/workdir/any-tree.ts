// What holds for any tree, any kill and any person in between.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { plan } from '../../../src/features/workdir/plan-pass.ts';
import { Ground, NOW_MS } from './ground.ts';
import { type Deed, deeds, doDeed, essence, placesOf, settle, tear, type World, worlds } from './worlds.ts';

/** In the same minute, for names have minutes in them, and later, for time goes on. */
const LATER_MS = 20_000;

async function undisturbed(world: World): Promise<{ essence: Record<string, string>; steps: number }> {
  using ground = new Ground();
  const ids = settle(ground, world);
  const first = await ground.pass();
  assert.deepEqual(first.left, []);
  const once = essence(ground);
  const before = ground.fingerprint();
  ground.now_ms = NOW_MS + LATER_MS;
  const tree = ground.tree();
  const { actions, archiving } = plan(tree, ground.now_ms, ground.settings);
  assert.deepEqual([actions, archiving], [[], []], 'nothing is left to do');
  const second = await ground.pass();
  assert.deepEqual([second.done, second.fresh, second.reports], [[], [], []]);
  assert.equal(ground.fingerprint(), before, 'a second pass writes nothing');
  expectAllOnce(ground, ids);
  return { essence: once, steps: first.done.length };
}

function expectAllOnce(ground: Ground, ids: readonly string[]): void {
  const places = placesOf(ground);
  for (const [id, paths] of places) assert.equal(paths.length, 1, `${id} is in ${paths.join(' and ')}`);
  for (const id of ids) assert.ok(places.has(id), `${id} is lost`);
  const { files, problems } = ground.tree();
  assert.deepEqual(problems, []);
  const parents = files.flatMap(({ path, task }) =>
    path.includes('-') && task.previous_task !== undefined ? [task.previous_task] : [],
  );
  assert.equal(new Set(parents).size, parents.length, `two follow one: ${parents.join(', ')}`);
}

/** Killed after so many actions, amid the next one if `torn`; the pass after it comes to the same end. */
async function killed(
  world: World,
  after: number,
  torn: boolean,
  wanted: Record<string, string>,
): Promise<void> {
  using ground = new Ground();
  const ids = settle(ground, world);
  const { planned, applier } = ground.prepare();
  await applier.apply(planned.actions.slice(0, after));
  const next = planned.actions[after];
  if (torn && next !== undefined) tear(ground, next);
  ground.now_ms = NOW_MS + LATER_MS;
  const { left } = await ground.pass();
  assert.deepEqual(left, []);
  expectAllOnce(ground, ids);
  assert.deepEqual(essence(ground), wanted);
}

/** The moves into the archive are the last thing that a pass does: some of them were not. */
async function killedArchiving(world: World, torn: boolean, wanted: Record<string, string>): Promise<void> {
  using ground = new Ground();
  const ids = settle(ground, world);
  const { archiving } = ground.prepare().planned;
  await ground.pass();
  for (const [n, action] of archiving.entries()) {
    if (action.kind !== 'move') continue;
    if (n > 0 || torn) ground.move(action.to, action.from);
    if (torn && n === 0) tear(ground, action);
  }
  ground.now_ms = NOW_MS + LATER_MS;
  assert.deepEqual((await ground.pass()).left, []);
  expectAllOnce(ground, ids);
  assert.deepEqual(essence(ground), wanted);
}

async function amidPeople(world: World, people: readonly Deed[]): Promise<void> {
  using ground = new Ground();
  const ids = settle(ground, world);
  const lines: { id: string; line: string }[] = [];
  const act = (step: number) => {
    for (const [n, deed] of people.entries())
      if (deed.at === step) {
        const written = doDeed(ground, deed, n);
        if (written !== undefined) lines.push(written);
      }
  };
  const { planned, applier } = ground.prepare();
  const all = [...planned.actions, ...planned.archiving];
  for (const [step, action] of all.entries()) {
    act(step);
    await applier.apply([action]);
  }
  for (let step = all.length; step <= 12; step += 1) act(step);
  // One pass sees to what people did, the next finds nothing to do.
  ground.now_ms = NOW_MS + LATER_MS;
  assert.deepEqual((await ground.pass()).left, []);
  const before = ground.fingerprint();
  ground.now_ms += LATER_MS;
  assert.deepEqual((await ground.pass()).done, []);
  assert.equal(ground.fingerprint(), before);
  expectAllOnce(ground, ids);
  const contents = Object.entries(ground.contents());
  for (const { id, line } of lines)
    assert.ok(
      contents.some(([path, text]) => path.endsWith(`/${id}.yaml`) && text.includes(`${line}\n`)),
      `${id} lost what a person wrote into it: ${line}`,
    );
}

export async function checkKills(runs: number, everyStep: boolean): Promise<void> {
  const property = fc.asyncProperty(worlds, fc.nat({ max: 30 }), fc.boolean(), async (world, at, torn) => {
    const { essence: wanted, steps } = await undisturbed(world);
    const all = Array.from({ length: steps + 1 }, (_, step) => step);
    for (const step of everyStep ? all : [at % (steps + 1)]) {
      await killed(world, step, torn, wanted);
      if (everyStep) await killed(world, step, !torn, wanted);
    }
    await killedArchiving(world, torn, wanted);
  });
  await fc.assert(property, { numRuns: runs });
}

export async function checkPeople(runs: number): Promise<void> {
  await fc.assert(fc.asyncProperty(worlds, deeds, amidPeople), { numRuns: runs });
}
