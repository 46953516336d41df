import type { ShellPlace } from '../../command-analysis/shell/parameters.ts';
import type { SimpleCommand } from '../../command-analysis/shell/shell-command.ts';
import { isKnown, literal, shortFolder, type Word, within } from '../../command-analysis/shell/word.ts';

/**
 * Where a path is. `root`: the root of the disk, a home folder or the workspace itself, or a folder above it.
 * `system`: part of the machine. `outside`: elsewhere. `temporary`: made to be removed.
 */
export type KnownPlace = 'unknown' | 'root' | 'system' | 'temporary' | 'outside' | 'repository' | 'inside';

const SYSTEM =
  /^\/(?:bin|boot|dev|etc|lib(?:32|64|x32)?|opt|proc|root|sbin|srv|sys|usr|var|System|Library|Applications|Windows|mnt|media|run|snap|nix)(?:\/|$)|^[A-Za-z]:[\\/]/;
const TEMPORARY =
  /^(?:\/private)?(?:\/tmp|\/var\/tmp|\/var\/folders|\/dev\/shm|\/run\/user\/\d+)\/.|^\/(?:private\/)?tmp\/\*|(?:^|\/)\.?te?mp\/./;

/** A file that a machine runs from or is configured by: `/etc/nginx/nginx.conf`, `/usr/bin/x`. */
export function isMachineFile(path: string): boolean {
  return /^\/(?:etc|boot|bin|sbin|lib|lib64|usr\/(?:bin|sbin|lib)|System)\//.test(path);
}

/**
 * The path as the disk sees it: absolute, without `.` and `..`; undefined if only the running shell knows it.
 */
export function absolute(command: SimpleCommand, word: Word, place: ShellPlace): string | undefined {
  const path = within(command.folder, word);
  if (!isKnown(path)) return undefined;
  const whole = within(literal(place.cwd), path);
  const short = shortFolder(whole);
  return isKnown(short) ? short.text : undefined;
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/**
 * Made to be removed. Home folders and workspaces may themselves lie below /tmp; their contents don't count
 * as temporary.
 */
export function isTemporary(path: string, place: ShellPlace): boolean {
  if (!TEMPORARY.test(path) || path.split('/').includes('..')) return false;
  const bare = path.endsWith('*') ? path.replace(/(?:\/\*+)+$/, '') : path;
  return ![place.root, place.cwd, place.home].some(
    (folder) =>
      folder !== undefined &&
      (`${folder}/`.startsWith(`${bare}/`) || (folder === place.home && isBelow(path, folder))),
  );
}

export function where(command: SimpleCommand, word: Word, place: ShellPlace): KnownPlace {
  const path = absolute(command, word, place);
  return path === undefined ? 'unknown' : whereIs(path, command, place);
}

/** The same for a path as `absolute` returns it. */
export function whereIs(path: string, command: SimpleCommand, place: ShellPlace): KnownPlace {
  const bare = (path.endsWith('*') ? path.replace(/(?:\/\*{1,2})+$/, '') : path) || '/';
  const workspace = shortFolder(literal(place.root ?? place.cwd)).text;
  const home = place.home === undefined ? undefined : shortFolder(literal(place.home)).text;
  if (command.elsewhere === true)
    return isTemporary(path, place) ? 'temporary' : bare === '/' ? 'root' : 'outside';
  if (bare === '/' || bare === home || bare === workspace || isBelow(workspace, bare)) return 'root';
  if (isBelow(path, workspace)) {
    const inside = path.slice(workspace.length + 1);
    return /^\.git(?:\/|$)/.test(inside) ? 'repository' : 'inside';
  }
  if (isTemporary(path, place)) return 'temporary';
  if (home !== undefined && isBelow(path, home)) return 'outside';
  if (/^\/(?:home|Users)\/[^/]+$/.test(bare)) return 'root';
  return SYSTEM.test(path) ? 'system' : 'outside';
}
