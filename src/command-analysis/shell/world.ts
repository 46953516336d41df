import { literal, unknownWord, type Word } from './word.ts';

/** How far a `break`, `return` or `exit` reaches: the rest of the loop, the function, the script is not run. */
export type Ended = 'loop' | 'function' | 'script';

/**
 * What a shell would know at one point: where it is and what its variables hold. After a branch there are two of them, and
 * what follows is read in each.
 */
export interface World {
  /** Empty: where the command line started. */
  readonly folder: Word;
  readonly folders_before: readonly Word[];
  readonly variables: ReadonlyMap<string, readonly Word[]>;
  /** `$1` and on; undefined: those of a script whose caller is not seen. */
  readonly parameters: readonly Word[] | undefined;
  readonly ended?: Ended | undefined;
}

/** One for each way through the branches before. */
export type Worlds = readonly World[];

const WORLDS_MAX = 8;
const VARIABLES_MAX = 300;

export const START: World = {
  folder: literal(''),
  folders_before: [],
  variables: new Map(),
  parameters: undefined,
};

export function assign(world: World, values: Iterable<readonly [string, readonly Word[]]>): World {
  const variables = new Map(world.variables);
  // One that is not remembered is unknown where it is used.
  for (const [name, value] of values)
    if (variables.size < VARIABLES_MAX || variables.has(name)) variables.set(name, value);
  return { ...world, variables };
}

export function enter(world: World, folder: Word): World {
  return { ...world, folder, folders_before: [world.folder, ...world.folders_before].slice(0, 8) };
}

function sameWords(a: readonly Word[] | undefined, b: readonly Word[] | undefined): boolean {
  if (a === b) return true;
  if (a?.length !== b?.length) return false;
  return (a ?? []).every((word, index) => {
    const other = b?.[index];
    return word.text === other?.text && word.glob === other.glob && word.unknown === other.unknown;
  });
}

function same(a: World, b: World): boolean {
  if (a === b) return true;
  if (a.ended !== b.ended || !sameWords([a.folder], [b.folder])) return false;
  if (!sameWords(a.parameters, b.parameters)) return false;
  if (a.variables === b.variables) return true;
  if (a.variables.size !== b.variables.size) return false;
  return [...a.variables].every(([name, words]) => sameWords(words, b.variables.get(name)));
}

/** Too many to follow each: what they do not agree on is unknown from here. */
function merged(worlds: readonly World[]): World {
  const [first = START, ...rest] = worlds;
  const variables = new Map(first.variables);
  for (const world of rest) {
    for (const name of new Set([...variables.keys(), ...world.variables.keys()])) {
      if (!sameWords(variables.get(name), world.variables.get(name)))
        variables.set(name, [unknownWord(`$${name}`)]);
    }
  }
  const one = rest.every(({ folder }) => sameWords([folder], [first.folder]));
  return { ...first, folder: one ? first.folder : unknownWord('one of several folders'), variables };
}

/** Each different one once. */
export function distinct(worlds: readonly World[]): readonly World[] {
  if (worlds.length < 2) return worlds;
  const found: World[] = [];
  for (const world of worlds) if (!found.some((other) => same(world, other))) found.push(world);
  return found.length > WORLDS_MAX ? [merged(found)] : found;
}

/** What comes of each. */
export function inEach(worlds: Worlds, run: (world: World) => Worlds): Worlds {
  const [only] = worlds;
  return distinct(worlds.length === 1 && only !== undefined ? run(only) : worlds.flatMap(run));
}

/** At the end of what a `break` or `return` leaves, life goes on. */
export function revive(worlds: readonly World[], ended: Ended): readonly World[] {
  return distinct(worlds.map((world) => (world.ended === ended ? { ...world, ended: undefined } : world)));
}
