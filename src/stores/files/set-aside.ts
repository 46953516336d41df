import { hash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SetAside {
  /** Relative to the folder of the events: its new path, or its old one if it could not be moved. */
  readonly file: string;
  readonly reason: string;
}

const SET_ASIDE = 'set-aside';
/** No agent's folder has this name. */
const NOBODYS = '%';
const REASON = '.reason.txt';
const NAME_BYTES_MAX = 200;

/**
 * Moves a file that can't be a proposal out of the way, with the reason beside it. Undefined: it is gone
 * already. A link is moved itself, never followed.
 */
export function setAside(
  events: string,
  from: { readonly inbox: string; readonly folder?: string; readonly name: string },
  reason: string,
): SetAside | undefined {
  const { inbox, folder, name } = from;
  const file = folder === undefined ? join(inbox, name) : join(inbox, folder, name);
  try {
    const place = placeFor(events, folder ?? NOBODYS);
    const kept = join(place, freeName(join(events, place), name));
    renameSync(join(events, file), join(events, kept));
    explain(join(events, `${kept}${REASON}`), reason);
    return { file: kept, reason };
  } catch (error) {
    if (lstatSync(join(events, file), { throwIfNoEntry: false }) === undefined) return undefined;
    return { file, reason: `${reason}; it could not be moved aside (${codeOf(error)})` };
  }
}

/** For a person who finds the file later. Moving and reporting it do not depend on this. */
function explain(path: string, reason: string): void {
  try {
    writeFileSync(path, `${reason}\n`, { flag: 'wx' });
  } catch {}
}

function placeFor(events: string, folder: string): string {
  const place = join(SET_ASIDE, folder);
  mkdirSync(join(events, place), { recursive: true });
  for (const part of [SET_ASIDE, place])
    if (!lstatSync(join(events, part)).isDirectory()) throw new Error('a link to elsewhere');
  return place;
}

/**
 * The name may have been used before. There is only one serialiser, so no other process takes it in between.
 */
function freeName(place: string, name: string): string {
  const short =
    Buffer.byteLength(name) <= NAME_BYTES_MAX ? name : `%~${hash('sha256', name, 'hex').slice(0, 32)}`;
  let free = short;
  const isTaken = (path: string) => existsSync(path) || existsSync(`${path}${REASON}`);
  for (let again = 2; isTaken(join(place, free)); again += 1) free = `${again}~${short}`;
  return free;
}

function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
