import { limits } from './limits.ts';

/**
 * Only printable ASCII. Checked character by character: an expression has to be compiled first, and a hook
 * checks only a handful of texts.
 */
export function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

/** Names are shown to other agents and in terminals: no control sequences, nothing invisible. */
export function isUnprintable(text: string): boolean {
  // Most are plain. Compiling the other check alone takes half a millisecond, and a hook lives for a few.
  return !isPlain(text) && /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text);
}

/**
 * Further invisible characters: fillers, grapheme joiners, variation selectors. In a text they do no harm,
 * and many emoji end in one; in a name they would let one agent's name look like another's.
 */
function hidesSomething(name: string): boolean {
  return !isPlain(name) && /\p{Default_Ignorable_Code_Point}/u.test(name);
}

/** The product's own commits are signed with it. */
const OWN_AGENT_ID = 'coxswain';

/** A caller under such a name has proven to be a person; no agent may look like one. */
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

/**
 * The same for the names of things, such as an evaluator: no agent can pass for one, so invisible characters
 * are allowed.
 */
export function labelProblem(value: unknown, chars_max: number): string | undefined {
  if (typeof value !== 'string') return 'text';
  if (value === '' || value.length > chars_max) return `1 to ${chars_max} characters`;
  if (isUnprintable(value)) return 'printable characters only';
  return value.trim() === value ? undefined : 'no spaces around it';
}

/** What keeps a valid name from being an agent's: it is reserved. */
export function reservedProblem(field: string, name: string): string | undefined {
  // In any spelling: a person who reads "Person:bob" in a list does not notice the case.
  const folded = (isPlain(name) ? name : name.normalize('NFKC')).trim().toLowerCase();
  if (field === 'agent_id' && folded === OWN_AGENT_ID) return 'another name than Coxswain’s own';
  if (field === 'agent_id' && folded.startsWith(PERSON_PREFIX))
    return 'another name: person: is for those who have proven to be one';
  if (field === 'agent_type' && folded === PERSON_TYPE)
    return 'another type: person is for those who have proven to be one';
  return undefined;
}
