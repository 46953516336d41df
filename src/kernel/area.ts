import { globMatches } from './glob.ts';

/**
 * What a lock is on: a file or a logical key, a folder with everything under it, or what matches a pattern.
 * `place` is the key of the record that holds it: the file's own key, or that of the folder (with a slash at
 * the end).
 */
export interface Area {
  readonly place: string;
  readonly pattern?: string | undefined;
}

/** The repository as a folder; this is also how a caller asks for it. */
export const ROOT_PLACE = './';

const LOGICAL = /^(?:api|db|event|flag|env|contract|feature):./u;
const LOGICAL_LIKE = /^\s*(?:api|db|event|flag|env|contract|feature):/u;
const WINDOWS_DRIVE = /^[A-Za-z]:[\\/]/;
const HOME = /^~(?:[\\/]|$)/;

export function isLogicalLike(text: string): boolean {
  return text.includes(':') && LOGICAL_LIKE.test(text);
}

export function isWindowsDrive(text: string): boolean {
  return text.includes(':') && WINDOWS_DRIVE.test(text);
}

export function isHome(text: string): boolean {
  return text.startsWith('~') && HOME.test(text);
}

/** True for `api:users` and its like; false for every key of a file. */
export function isLogicalKey(key: string): boolean {
  return LOGICAL.test(key);
}

/** The `./` distinguishes a file called `api:x` from the logical key, and keeps every key readable. */
export function unambiguous(relative: string): string {
  const ambiguous = isLogicalLike(relative) || isWindowsDrive(relative) || isHome(relative);
  return ambiguous ? `./${relative}` : relative;
}

function bare(key: string): string {
  return key.startsWith('./') ? key.slice(2) : key;
}

/** The folder of that name, even if there is a file of that name now. */
export function folderPlace(key: string): string {
  return unambiguous(`${bare(key)}/`);
}

export function isFolderPlace(place: string): boolean {
  return place.endsWith('/') && !isLogicalKey(place);
}

/** The key of a file with the folder's name; undefined for the repository itself. */
export function fileOfFolder(place: string): string | undefined {
  return place === ROOT_PLACE ? undefined : unambiguous(bare(place).slice(0, -1));
}

/**
 * The folders whose locks can cover this place, outermost first. A file may turn out to be a folder, so its
 * own name counts.
 */
export function foldersAbove(place: string): string[] {
  if (isLogicalKey(place) || place === ROOT_PLACE) return [];
  const prefix = place.startsWith('./') ? './' : '';
  const names = bare(place).split('/');
  // The last name is the file's, or the empty one after a folder's slash.
  const folders = names.slice(0, isFolderPlace(place) ? -2 : -1);
  const above = [ROOT_PLACE, ...folders.map((_, end) => `${prefix}${names.slice(0, end + 1).join('/')}/`)];
  return isFolderPlace(place) ? above : [...above, folderPlace(place)];
}

function isUnder(folder: string, place: string): boolean {
  if (isLogicalKey(place)) return false;
  if (folder === ROOT_PLACE || place.startsWith(folder)) return true;
  return !isFolderPlace(place) && folderPlace(place) === folder;
}

/** Could one file be in both? Between folders and patterns the answer errs on the side of yes. */
export function overlap(a: Area, b: Area): boolean {
  const [aIsFolder, bIsFolder] = [isFolderPlace(a.place), isFolderPlace(b.place)];
  if (!aIsFolder && !bIsFolder) return a.place === b.place;
  if (aIsFolder && bIsFolder) return isUnder(a.place, b.place) || isUnder(b.place, a.place);
  const [folder, file] = aIsFolder ? [a, b] : [b, a];
  if (isLogicalKey(file.place)) return false;
  return folder.pattern === undefined
    ? isUnder(folder.place, file.place)
    : globMatches(folder.pattern, file.place);
}

/** Is all of `inner` in `outer`? Here the answer errs on the side of no. */
export function covers(outer: Area, inner: Area): boolean {
  if (outer.place === inner.place && outer.pattern === inner.pattern) return true;
  return outer.pattern === undefined && isFolderPlace(outer.place) && isUnder(outer.place, inner.place);
}

/** The form in which an area is asked for and shown. */
export function areaName({ place, pattern }: Area): string {
  return pattern ?? place;
}
