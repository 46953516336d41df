// Work directories of all kinds, what people do to them, and what a kill leaves of an action.
import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { followUpText } from '../../../src/features/workdir/folder/task-text.ts';
import type { TaskAction } from '../../../src/features/workdir/task-actions.ts';
import { PRIORITIES, TASK_STATUSES } from '../../../src/features/workdir/task-file.ts';
import { isoTime } from '../../../src/kernel/clock.ts';
import { type Ground, NOW_MS, TIME } from './ground.ts';

const NAMES = ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7'];
const FOLDERS = [
  'inbox',
  'inbox/sub',
  'assigned/ann',
  'assigned/bob',
  'done',
  'done/ann',
  'fridge',
  'archive/2026-01',
];
const AGENTS = ['ann', 'bob', 'zoe'];
const ARTEFACTS = ['docs/a.md', './docs//a.md', 'docs/', 'docs/*.md', 'src/b.ts'];
const HOUR_MS = 3_600_000;
/** Long enough from every limit that a minute more or less decides nothing. */
const AGO_MS = [60_000, HOUR_MS, 3 * HOUR_MS + 250, 30 * HOUR_MS, 40 * 24 * HOUR_MS];

const moments = fc.option(fc.constantFrom(...AGO_MS), { nil: undefined, freq: 2 });
const someOf = <T>(list: readonly T[], most: number) => fc.subarray([...list], { maxLength: most });

const tasks = fc.record({
  folder: fc.constantFrom(...FOLDERS),
  agent: fc.constantFrom(...AGENTS),
  status: fc.constantFrom(...TASK_STATUSES),
  priority: fc.option(fc.constantFrom(...PRIORITIES), { nil: undefined }),
  artefacts: someOf(ARTEFACTS, 2),
  dependencies: someOf([...NAMES, 'gone'], 2),
  previous_task: fc.option(fc.constantFrom(...NAMES), { nil: undefined, freq: 4 }),
  next_agent: fc.option(fc.constantFrom(...AGENTS), { nil: undefined, freq: 2 }),
  follow_up: fc.option(fc.constantFrom(...NAMES), { nil: undefined, freq: 6 }),
  created: moments,
  assigned: moments,
  started: moments,
  completed: moments,
  result_completed: moments,
  failed: moments,
  style: fc.constantFrom('plain', 'crlf', 'json', 'commented'),
});

type Task = typeof tasks extends fc.Arbitrary<infer T> ? T : never;

export interface World {
  readonly tasks: readonly Task[];
  readonly serialise: boolean;
}

export const worlds: fc.Arbitrary<World> = fc.record({
  tasks: fc.array(tasks, { minLength: 1, maxLength: NAMES.length }),
  serialise: fc.boolean(),
});

function timeAgo(ago_ms: number | undefined): string | undefined {
  return ago_ms === undefined ? undefined : isoTime(NOW_MS - ago_ms);
}

function textOf(id: string, each: Task): string {
  const { next_agent, result_completed, failed } = each;
  const value = {
    id,
    agent: each.agent,
    status: each.status,
    priority: each.priority,
    artefacts: each.artefacts,
    context: { dependencies: each.dependencies, previous_task: each.previous_task },
    created_at: timeAgo(each.created),
    assigned_at: timeAgo(each.assigned),
    started_at: timeAgo(each.started),
    completed_at: timeAgo(each.completed),
    follow_up: each.follow_up,
    result: next_agent && { summary: `of ${id}`, next_agent, completed_at: timeAgo(result_completed) },
    error: failed && { message: 'no', timestamp: timeAgo(failed) },
  };
  // JSON is YAML: in one line, or with a key on each.
  if (each.style === 'json') return JSON.stringify(value);
  const lines = Object.entries(value).flatMap(([key, part]) =>
    part === undefined ? [] : [`${key}: ${JSON.stringify(part)}`],
  );
  if (each.style === 'commented') return `# ${id}\n${lines.map((line) => `${line} # theirs\n`).join('\n')}`;
  return `${lines.join(each.style === 'crlf' ? '\r\n' : '\n')}\n`;
}

export function settle(ground: Ground, world: World): string[] {
  ground.settings = { ...ground.settings, serialise_conflicts: world.serialise };
  return world.tasks.map((each, n) => {
    const id = NAMES[n] ?? '';
    ground.write(`${each.folder}/${id}.yaml`, textOf(id, each));
    return id;
  });
}

/** What a person does at some moment: to the n-th file there is. */
export interface Deed {
  /** Before this action of the pass. */
  readonly at: number;
  readonly file: number;
  readonly to: string | undefined;
}

export const anyDeed: fc.Arbitrary<Deed> = fc.record({
  at: fc.nat({ max: 12 }),
  file: fc.nat({ max: 20 }),
  to: fc.option(fc.constantFrom(...FOLDERS.filter((folder) => folder !== 'archive/2026-01')), {
    nil: undefined,
    freq: 3,
  }),
});

export const deeds: fc.Arbitrary<Deed[]> = fc.array(anyDeed, { maxLength: 6 });

/** Moves it where nothing is in the way, or writes a line into it; answers that line. */
export function doDeed(
  ground: Ground,
  { file, to }: Deed,
  number: number,
): { id: string; line: string } | undefined {
  const paths = Object.keys(ground.contents()).filter((path) =>
    /^(?:inbox|assigned|done|fridge)\/.*\.yaml$/.test(path),
  );
  const path = paths[file % Math.max(1, paths.length)];
  if (path === undefined) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (to === undefined) {
    const line = `# deed ${number}`;
    const text = ground.read(path);
    ground.write(path, `${text}${text.endsWith('\n') ? '' : '\n'}${line}\n`);
    return { id: name.replace('.yaml', ''), line };
  }
  if (!ground.has(`${to}/${name}`)) ground.move(path, `${to}/${name}`);
  return undefined;
}

/** More than Linux ever gives out. */
const NOBODY = 4_194_305;

/** As a kill in the middle of an action leaves it. */
export function tear(ground: Ground, action: TaskAction): void {
  const aside = (path: string, text: string) => {
    const at = path.replace(/[^/]+$/, (name) => `.${name}.${NOBODY}.1.cox`);
    mkdirSync(dirname(ground.at(at)), { recursive: true });
    writeFileSync(ground.at(at), text);
    return at;
  };
  switch (action.kind) {
    case 'move':
      mkdirSync(dirname(ground.at(action.to)), { recursive: true });
      linkSync(ground.at(action.from), ground.at(action.to));
      return;
    case 'update':
      aside(action.path, 'half of wh');
      return;
    case 'create':
      linkSync(ground.at(aside(action.path, followUpText(action.follow_up))), ground.at(action.path));
      return;
    case 'drop':
      return;
  }
}

/** What is there, but for times; and of logs not the order, which follows from the times. */
export function essence(ground: Ground): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [path, text] of Object.entries(ground.contents())) {
    if (text === '/') continue;
    const timeless = text.replaceAll(TIME, 'then');
    found[path] = /\.(?:jsonl|md)$/.test(path) ? timeless.split('\n').sort().join('\n') : timeless;
  }
  return found;
}

/** Where each task is: more than one place is one too many. */
export function placesOf(ground: Ground): Map<string, string[]> {
  const places = Map.groupBy(
    Object.keys(ground.contents()).filter((path) =>
      /^(?:inbox|assigned|done|fridge|archive)\/.*\.yaml$/.test(path),
    ),
    (path) => path.slice(path.lastIndexOf('/') + 1).replace('.yaml', ''),
  );
  return places;
}
