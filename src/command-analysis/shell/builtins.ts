import type { ShellPlace } from './parameters.ts';
import { printedBy, printing } from './prints.ts';
import { afterOptions, parseOptions } from './program-options.ts';
import { isKnown, type Lines, literal, shortFolder, unknownWord, type Word, within } from './word.ts';
import { assign, enter, type World } from './world.ts';

function changeFolder(words: readonly Word[], world: World, place: ShellPlace): World {
  const target = words[afterOptions(words, 1)];
  if (target === undefined)
    return enter(world, place.home === undefined ? unknownWord('~') : literal(place.home));
  if (target.text === '-') return enter(world, world.folders_before[0] ?? unknownWord('cd -'));
  if (!isKnown(target)) return enter(world, unknownWord(`cd ${target.unknown}`));
  return enter(world, shortFolder(within(world.folder, target)));
}

function leaveFolder(world: World): World {
  const [folder = unknownWord('popd'), ...rest] = world.folders_before;
  return { ...world, folder, folders_before: rest };
}

/** `read a b < …`: a single name takes the line as it is; for several names the split is unknown. */
function read(words: readonly Word[], world: World, input: Lines | undefined): World {
  const { operands } = parseOptions(words.slice(1), { takes: '-d -n -N -p -t -u -i -a' });
  const [line] = input ?? [];
  // Which of several lines is the first may be unknown.
  const whole = operands.length === 1 && line !== undefined && (line.unsure !== true || input?.length === 1);
  return assign(
    world,
    operands.map(({ text }) => [text, [whole ? line : unknownWord(`$${text}`)]] as const),
  );
}

/** `set -- a b` gives the script new parameters; other options change nothing that matters here. */
function set(words: readonly Word[], world: World): World {
  const dashes = words.findIndex(({ text }) => text === '--');
  return dashes === -1 ? world : { ...world, parameters: words.slice(dashes + 1) };
}

/** What the shell does by itself; undefined: the command is no builtin. */
export function builtin(
  words: readonly Word[],
  world: World,
  input: Lines | undefined,
  place: ShellPlace,
): World | undefined {
  switch (words[0]?.text) {
    case 'cd':
    case 'pushd':
      return changeFolder(words, world, place);
    case 'popd':
      return leaveFolder(world);
    case 'read':
      return read(words, world, input);
    case 'mapfile':
    case 'readarray':
      return assign(world, [[words.at(-1)?.text ?? '', input ?? [unknownWord('what is read')]]]);
    case 'set':
      return set(words, world);
    case 'printf': {
      if (words[1]?.text !== '-v') return undefined;
      const printed = printedBy(printing(words), place);
      return assign(world, [[words[2]?.text ?? '', printed ?? [unknownWord('what printf makes')]]]);
    }
    case 'shift':
      return { ...world, parameters: world.parameters?.slice(Number(words[1]?.text ?? 1) || 0) };
    case 'unset':
      return assign(
        world,
        words.slice(1).map(({ text }) => [text, []]),
      );
    case 'export':
    case 'declare':
    case 'typeset':
    case 'local':
    case 'readonly':
      return world;
    case 'exit':
      return { ...world, ended: 'script' };
    case 'return':
      return { ...world, ended: 'function' };
    case 'break':
    case 'continue':
      return { ...world, ended: 'loop' };
    default:
      return undefined;
  }
}
