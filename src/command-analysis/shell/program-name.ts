import { globMatches } from '../../kernel/glob.ts';
import { baseName, isKnown, literal, type Word } from './word.ts';

/**
 * Variables that commonly name a program. Nothing in the command line gives them a value, so they are assumed
 * to name that one.
 */
const IN_VARIABLES =
  /^(?:(?<name>python3?|node|npm|npx|pnpm|yarn|bun|deno|git|docker|podman|kubectl|helm|terraform|cargo|rustc|ruby|perl|php|java|javac|mvn|gradle|make|cmake|ninja|sudo|psql|mysql|bash|shell|pip|pytest|go|adb|flutter|editor|visual|pager|browser|cc|cxx|ld|ar|cox|diff|compose|timeout|chrome|runner)(?:_(?:bin|cmd|exe|path|executable))?|(?<other>[a-z0-9_]+)_(?:bin|exe|executable))$/i;

/** Programs that run others: a pattern that could be one of them is read as that one. */
const RUNNERS = 'bash sh zsh dash env sudo xargs python python3 node perl ruby eval find'.split(' ');

function variableName(source: string): string | undefined {
  return /^"?\$\{?([A-Za-z_]\w*)\}?"?$/.exec(source)?.[1];
}

function fromVariable(name: string): string | undefined {
  const groups = IN_VARIABLES.exec(name)?.groups;
  const found = (groups?.name ?? groups?.other)?.toLowerCase();
  return found === 'shell' ? 'sh' : found;
}

/**
 * The first word of a command as the program it means: behind an unknown folder (`"$VENV/bin/python"`), in a variable of the
 * environment (`$PYTHON`), spelled as a pattern (`/bin/b?sh`). Undefined: it could be any program.
 */
export function programWord(word: Word): Word | undefined {
  if (isKnown(word)) {
    if (!word.glob) return word;
    const runner = RUNNERS.find((name) => globMatches(baseName(word.text), name));
    return runner === undefined || /^[*?]*$/.test(baseName(word.text)) ? word : literal(runner);
  }
  const tail = word.tail ?? '';
  if (tail.includes('/')) return baseName(tail) === '' ? undefined : literal(baseName(tail));
  const name = fromVariable(variableName(word.source ?? '') ?? '');
  return name === undefined ? undefined : literal(name);
}

/** The words of a command, the first as the program that it means. */
export function programFirst(program: Word, given: readonly Word[]): readonly Word[] {
  if (program === given[0] && given.every(({ glued }) => glued === undefined)) return given;
  const rest = given.slice(1).map((word) => (word.glued === undefined ? word : literal(word.glued)));
  return [program, ...rest];
}
