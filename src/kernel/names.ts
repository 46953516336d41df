import { limits } from './limits.ts';

/** Nothing but printable ASCII. Looked at one by one: an expression is compiled first, and a hook asks for a handful of texts. */
export function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

/** Names are shown to other agents and in terminals: nothing a terminal obeys, nothing invisible. */
export function isUnprintable(text: string): boolean {
  // Most are plain. The other question alone takes half a millisecond to be built, and a hook lives for a few.
  return !isPlain(text) && /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
}

/**
 * Characters that show nothing, besides those above: fillers, joiners of graphemes, selectors of a variant. In a text they do no
 * harm and many emoji end in one; in a name they make two that look the same, one of them somebody else's.
 */
function hidesSomething(name: string): boolean {
  return !isPlain(name) && /\p{Default_Ignorable_Code_Point}/u.test(name);
}

/** The product's own commits are signed with it. */
const OWN_AGENT_ID = 'coxswain';

/** Who acts under these has proven to be a person; nobody else may look like one. */
const PERSON_PREFIX = 'person:';
export const PERSON_TYPE = 'person';

export function personId(name: string): string {
  return `${PERSON_PREFIX}${name}`;
}

/** What keeps a text from being a name: the words after "expected". */
export function nameProblem(value: unknown): string | undefined {
  const chars_max = limits.agent_id_chars_max;
  if (typeof value !== 'string') return 'text';
  if (value.trim() === '' || value.length > chars_max) return `1 to ${chars_max} characters`;
  return isUnprintable(value) || hidesSomething(value) ? 'printable characters only' : undefined;
}

/** The same for what a thing is called, such as an evaluator: nobody can pass for it, so some of it may show nothing. */
export function labelProblem(value: unknown, chars_max: number): string | undefined {
  if (typeof value !== 'string') return 'text';
  if (value === '' || value.length > chars_max) return `1 to ${chars_max} characters`;
  if (isUnprintable(value)) return 'printable characters only';
  return value.trim() === value ? undefined : 'no spaces around it';
}

/** What keeps a sound name from being an agent's: it belongs to somebody else. */
export function reservedProblem(field: string, name: string): string | undefined {
  // However it is written: who reads "Person:bob" in a list does not look at the case.
  const folded = (isPlain(name) ? name : name.normalize('NFKC')).trim().toLowerCase();
  if (field === 'agent_id' && folded === OWN_AGENT_ID) return 'another name than Coxswain’s own';
  if (field === 'agent_id' && folded.startsWith(PERSON_PREFIX))
    return 'another name: person: is for those who have proven to be one';
  if (field === 'agent_type' && folded === PERSON_TYPE)
    return 'another type: person is for those who have proven to be one';
  return undefined;
}
