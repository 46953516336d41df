import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { folderFailure } from '../sqlite/errors.ts';

/** The paths of one workspace. Only `events` is shared with other implementations. */
export interface Layout {
  /** `.ai-workspace`, or the folder that was named. */
  readonly folder: string;
  readonly events: string;
  /** The log: the source of truth. */
  readonly log: string;
  readonly inbox: string;
  /** Files that could not be accepted, each with its reason. */
  readonly aside: string;
  /** Ours alone: audit rows, and what is rebuilt from the log when it is missing. */
  readonly own: string;
  readonly state: string;
}

const WORKSPACE = '.ai-workspace';

export function layoutOf(named: string): Layout {
  const given = resolve(named);
  const inside = join(given, WORKSPACE);
  // `files:.` in a repository that has a workspace means that workspace.
  const folder = basename(given) !== WORKSPACE && existsSync(inside) ? inside : given;
  const events = join(folder, 'events');
  const own = join(events, '.coxswain');
  return {
    folder,
    events,
    log: join(events, 'events.jsonl'),
    inbox: join(events, 'inbox'),
    aside: join(events, 'set-aside'),
    own,
    state: join(own, 'state.db'),
  };
}

/** Can be rebuilt from the log, so it does not belong under version control. */
export function prepareFolders({ events, own }: Layout): void {
  const ignore = join(own, '.gitignore');
  try {
    mkdirSync(events, { recursive: true });
    mkdirSync(own, { recursive: true, mode: 0o700 });
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  } catch (error) {
    throw folderFailure(error);
  }
}
