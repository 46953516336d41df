// What a mirror says after any mixture of what people, passes, verbs and kills do: what the files say.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { openTasks } from '../../../src/features/workdir/operations/mirror-tree.ts';
import type { TaskFile } from '../../../src/features/workdir/task-file.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { MirrorStage } from './mirror-stage.ts';
import { anyDeed, type Deed, doDeed, settle, type World, worlds } from './worlds.ts';

/** What happens between two looks, in any order and as often as it comes. */
type Happening =
  | { readonly what: 'person'; readonly deed: Deed }
  | { readonly what: 'deleted'; readonly file: number }
  | { readonly what: 'submitted' | 'pass' | 'mirrored' | 'at once' | 'files alone' | 'killed' };

const happenings: fc.Arbitrary<Happening[]> = fc.array(
  fc.oneof(
    fc.record({ what: fc.constant('person' as const), deed: anyDeed }),
    fc.record({ what: fc.constant('deleted' as const), file: fc.nat({ max: 20 }) }),
    fc.record({
      what: fc.constantFrom(
        ...(['submitted', 'pass', 'mirrored', 'at once', 'files alone', 'killed'] as const),
      ),
    }),
  ),
  { minLength: 1, maxLength: 8 },
);

async function happen(stage: MirrorStage, happening: Happening, number: number): Promise<void> {
  const { ground } = stage;
  ground.now_ms += 20_000;
  switch (happening.what) {
    case 'person':
      doDeed(ground, happening.deed, number);
      return;
    case 'deleted': {
      const { files } = ground.tree();
      const file = files[happening.file % Math.max(1, files.length)];
      if (file !== undefined) ground.remove(file.path);
      return;
    }
    case 'submitted':
      await stage.submit(`Write page ${number}`);
      return;
    case 'pass':
      await stage.pass();
      return;
    case 'mirrored':
      await stage.mirror().show({ done: [] });
      return;
    case 'at once':
      await Promise.all([stage.pass(), stage.pass()]);
      return;
    case 'files alone':
      await ground.pass();
      return;
    case 'killed':
      await stage.mirror().take();
      return;
  }
}

/** In the queue's words, worked out once more from where a file lies. */
function wanted({ shelf, path, folder, task }: TaskFile): (string | undefined)[] {
  const place = `work/${path}`;
  const agent = folder ?? task.agent;
  if (shelf === 'done') return ['completed', 'done', agent, place];
  if (shelf === 'fridge') return ['cancelled', 'frozen', agent, place];
  if (task.status === 'error') return ['failed', 'error', agent, place];
  if (shelf === 'inbox') return ['filed', 'new', agent, place];
  if (task.status === 'done') return ['completed', 'done', agent, place];
  return ['filed', task.status === 'in_progress' ? 'in_progress' : 'assigned', agent, place];
}

async function expectSame(stage: MirrorStage): Promise<void> {
  const { files, problems } = stage.ground.tree();
  assert.deepEqual(problems, []);
  for (const file of files) {
    const { work_id } = file.task;
    const shown: JsonObject =
      work_id === undefined
        ? await stage.shown(file.task.id)
        : await stage.call('show_work', { task_id: work_id });
    assert.deepEqual([shown.status, shown.file_status, shown.agent, shown.file_path], wanted(file));
  }
  const { store, project } = stage.coxswain;
  const open = await openTasks('work', { find: (needs) => store.find(project, needs) });
  const here = new Set(files.map(({ task }) => task.id));
  for (const { file } of open) assert.ok(here.has(file.id), `${file.id} is open in the store and gone`);
  const works = files.flatMap(({ task }) => task.work_id ?? []);
  assert.equal(new Set(works).size, works.length, 'one task of the queue is two files');
}

async function mirrored(world: World, all: readonly Happening[]): Promise<void> {
  await using stage = await MirrorStage.on();
  const { ground } = stage;
  settle(ground, world);
  ground.settings = { ...ground.settings, take_from_queue: { docs: 'ann' } };
  for (const [number, happening] of all.entries()) await happen(stage, happening, number);
  // A killed process is relieved; one pass sees to the rest, the next finds nothing to do.
  ground.now_ms += 120_000;
  await stage.pass();
  await stage.pass();
  const rows = (await stage.rows()).filter(({ events }) => events.length > 0).length;
  const last = await stage.pass();
  assert.deepEqual([last.written, last.problems, last.away], [0, [], undefined]);
  assert.equal((await stage.rows()).filter(({ events }) => events.length > 0).length, rows);
  await expectSame(stage);
  assert.equal((await stage.call('get_work')).reason, 'no_tasks_available', 'all of them are files');
  assert.deepEqual(await stage.differences(), []);
}

export async function checkMirrors(runs: number): Promise<void> {
  await fc.assert(fc.asyncProperty(worlds, happenings, mirrored), { numRuns: runs });
}
