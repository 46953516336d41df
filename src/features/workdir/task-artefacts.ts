import { type Area, ROOT_PLACE, unambiguous } from '../../kernel/area.ts';
import { hasWildcard } from '../../kernel/glob.ts';

/**
 * The area that an artefact names: a file, a folder (with its slash) or a pattern. It is taken as written:
 * links are not followed, since a pass looks at nothing outside of the work directory. Undefined: it leads
 * out of the repository, so no other task can mean it.
 */
export function artefactArea(written: string): Area | undefined {
  const text = written.trim().normalize('NFC').replaceAll('\\', '/');
  if (text === '' || text.startsWith('/') || /^[A-Za-z]:\//.test(text)) return undefined;
  const names: string[] = [];
  for (const name of text.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  const key = names.join('/');
  const wild = names.findIndex((name) => hasWildcard(name));
  if (wild !== -1) {
    const above = names.slice(0, wild);
    return { place: above.length === 0 ? ROOT_PLACE : unambiguous(`${above.join('/')}/`), pattern: key };
  }
  if (key === '') return { place: ROOT_PLACE };
  return { place: unambiguous(text.endsWith('/') ? `${key}/` : key) };
}
