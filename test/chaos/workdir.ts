// node test/chaos/workdir.ts --kills 500
// Tasks go through a team of agents, chained, waiting, failing, archived, while `cox coordinate` is killed again and again amid its
// passes. In the end the tree is the one of a team whose coordinator was never killed, times aside.
import { readdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rewriteTask } from '../../src/features/workdir/folder/task-text.ts';
import type { Occurrence } from '../../src/features/workdir/occurrences.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { Ground, task } from '../features/workdir/ground.ts';
import { essence, placesOf } from '../features/workdir/worlds.ts';
import { Seeded } from '../simulation/random.ts';
import { finished, start } from '../transports/support.ts';
import { readOptions } from './crew.ts';

const AGENTS = ['ann', 'bob', 'cat'];
const STEPS = 4;
const KILLS_PER_STEP = 5;
/** A killed pass is followed by others, but not for ever. */
const RUNS_MAX = 40;

export interface WorkdirKills {
  readonly kills: number;
  readonly tasks: number;
  readonly faults: readonly string[];
  readonly summary: string;
}

export async function killCoordinators(kills: number, seed = 1): Promise<WorkdirKills> {
  const start_ms = performance.now();
  using calm = new Ground({}, 'work', tmpdir());
  using stormy = new Ground({}, 'work', tmpdir());
  const killer = new Killer(stormy, kills, new Seeded(seed));
  const batches = await workflow(
    stormy,
    (batch) => killer.killed < kills && batch < kills,
    () => killer.pass(),
  );
  const told = new Set<string>();
  const escalate = async ({ type, task: id = '' }: Occurrence) => void told.add(`task_${type} ${id}`);
  await workflow(
    calm,
    (batch) => batch < batches,
    async () => void (await calm.pass({ now_ms: systemClock.now_ms(), escalate })),
  );
  const faults = [...killer.faults, ...differences(essence(calm), essence(stormy))];
  for (const [id, paths] of placesOf(stormy))
    if (paths.length !== 1) faults.push(`${id} is in ${paths.join(' and ')}`);
  const heard = killer.notices();
  for (const each of told) if (!heard.has(each)) faults.push(`nobody was told: ${each}`);
  const tasks = placesOf(calm).size;
  const seconds = ((performance.now() - start_ms) / 1000).toFixed(1);
  const summary = `work directory: ${tasks} tasks, coordinators killed ${killer.killed} times (${killer.amid} amid their work), ended ${killer.ended} times, faults ${faults.length} (${seconds} s)`;
  return { kills: killer.killed, tasks, faults, summary };
}

/** Every batch is dropped, taken through, and leaves what it leaves. Answers how many there were. */
async function workflow(
  ground: Ground,
  goesOn: (batch: number) => boolean,
  pass: () => Promise<void>,
): Promise<number> {
  for (const agent of AGENTS) ground.write(`assigned/${agent}/.gitkeep`, '');
  let batch = 0;
  for (; goesOn(batch); batch += 1) {
    drop(ground, `b${batch}`);
    for (let step = 0; step < STEPS; step += 1) {
      await pass();
      work(ground);
    }
  }
  await pass();
  return batch;
}

function drop(ground: Ground, name: string): void {
  for (let n = 0; n < 12; n += 1) {
    const agent = AGENTS[n % AGENTS.length] ?? 'ann';
    const id = `${name}-${n}`;
    const needs = n % 4 === 3 ? `context: {dependencies: [${name}-${n - 1}]}\n` : '';
    ground.write(
      `inbox/${id}.yaml`,
      task(id, { agent, title: 'stage 0', artefacts: `[docs/${n % 5}.md]` }, needs),
    );
  }
  const stuck = { status: 'in_progress', started_at: '2026-01-01T00:00:00Z', artefacts: '[docs/0.md]' };
  ground.write(`assigned/ann/${name}-stuck.yaml`, task(`${name}-stuck`, stuck));
  ground.write(`inbox/${name}-lost.yaml`, task(`${name}-lost`, { agent: 'zoe' }));
  ground.write(`inbox/${name}-broken.yaml`, 'id: [\n');
  ground.write(`fridge/${name}-cold.yaml`, task(`${name}-cold`));
  const old = { agent: 'bob', status: 'done', completed_at: '2026-01-31T23:59:59Z' };
  ground.write(`done/bob/${name}-old.yaml`, task(`${name}-old`, old, 'result: {next_agent: cat}\n'));
}

/** What the agents do, always the same: they end what they have and hand on what has stages left. */
function work(ground: Ground): void {
  for (const agent of AGENTS)
    for (const name of readdirSync(ground.at(`assigned/${agent}`)).sort()) {
      const path = `assigned/${agent}/${name}`;
      if (!name.endsWith('.yaml') || !/^status: assigned$/m.test(ground.read(path))) continue;
      const text = ground.read(path);
      const stage = Number(/^title: stage (\d)/m.exec(text)?.[1] ?? 9);
      const next = AGENTS[(AGENTS.indexOf(agent) + 1) % AGENTS.length] ?? 'ann';
      const isLast = stage >= 2;
      // What is to be archived was done long ago, the rest in times to come.
      const completed_at_ms = Date.UTC(isLast ? 2999 : 2026, stage % 10, 5, 6, 7, 8);
      const rewritten = rewriteTask(text, {
        status: 'done',
        completed_at_ms,
        result: {
          summary: 'all of it',
          completed_at_ms,
          ...(isLast ? {} : { next_agent: next, next_task_title: `stage ${stage + 1} of ${name}` }),
        },
      });
      if ('problem' in rewritten) throw new Error(`${path}: ${rewritten.problem}`);
      ground.write(`done/${name}`, rewritten.text);
      rmSync(ground.at(path));
    }
}

class Killer {
  killed = 0;
  amid = 0;
  ended = 0;
  readonly faults: string[] = [];
  readonly #ground: Ground;
  readonly #kills: number;
  readonly #random: Seeded;
  readonly #notices: string;
  /** How long a pass takes from its first change on, as far as is known. */
  #working_ms = 200;
  /** The part of it in which kills come. */
  #reach = 1;

  constructor(ground: Ground, kills: number, random: Seeded) {
    this.#ground = ground;
    this.#kills = kills;
    this.#random = random;
    this.#notices = join(ground.top, 'notices');
  }

  /** Killed a few times, then left to its end. */
  async pass(): Promise<void> {
    for (let run = 0; run < KILLS_PER_STEP && this.killed < this.#kills; run += 1)
      if (await this.#once(true)) return;
    for (let run = 0; run < RUNS_MAX; run += 1) if (await this.#once(false)) return;
    throw new Error('no pass came to its end');
  }

  async #once(kill: boolean): Promise<boolean> {
    const before = this.#ground.fingerprint();
    const child = start(['coordinate', this.#ground.root], {
      cwd: this.#ground.top,
      env: { COX_NOTIFY_FILE: this.#notices, NODE_COMPILE_CACHE: join(tmpdir(), 'cox-chaos-compiled') },
    });
    const end = finished(child);
    // Somewhere between its first change of the tree and its end.
    const delay_ms = this.#reach * this.#working_ms * this.#random.fraction();
    let began_ms = 0;
    let timer: NodeJS.Timeout | undefined;
    const watcher = watch(this.#ground.root, { recursive: true }, () => {
      if (began_ms > 0) return;
      began_ms = performance.now();
      if (kill) timer = setTimeout(() => child.kill('SIGKILL'), delay_ms);
    });
    const { signal, code, err } = await end;
    clearTimeout(timer);
    watcher.close();
    if (signal === 'SIGKILL') {
      this.killed += 1;
      this.#reach = Math.min(1, this.#reach * 1.05);
      if (this.#ground.fingerprint() !== before) this.amid += 1;
      return false;
    }
    // A kill that comes too late is none: the next ones come earlier.
    if (kill) this.#reach *= 0.8;
    if (began_ms > 0) this.#working_ms = performance.now() - began_ms;
    this.ended += 1;
    // Broken files (1) and errors (3) are part of the play.
    if (code !== 1 && code !== 3) this.faults.push(`it ended with ${code}: ${err}`);
    return true;
  }

  notices(): Set<string> {
    const lines = readFileSync(this.#notices, 'utf8').trim().split('\n');
    return new Set(
      lines.map((line) => {
        const { kind, task_id } = JSON.parse(line) as JsonObject;
        return `${String(kind)} ${String(task_id)}`;
      }),
    );
  }
}

function differences(wanted: Record<string, string>, found: Record<string, string>): string[] {
  const paths = new Set([...Object.keys(wanted), ...Object.keys(found)]);
  return [...paths].flatMap((path) => {
    if (wanted[path] === found[path]) return [];
    if (found[path] === undefined) return [`${path} is missing`];
    if (wanted[path] === undefined) return [`${path} should not be there`];
    return [`${path} differs:\n${wanted[path]}\n--- but is\n${found[path]}`];
  });
}

if (import.meta.main) {
  const { kills, seed } = readOptions({ kills: 500, seed: 1 });
  const result = await killCoordinators(kills, seed);
  console.log(result.summary);
  for (const fault of result.faults.slice(0, 20)) console.log(`  ${fault}`);
  process.exitCode = result.faults.length > 0 ? 1 : 0;
}
