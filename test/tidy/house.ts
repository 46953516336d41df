import type { Import } from './imports.ts';

/**
 * Which slice may use which others. A slice that is not named here uses none. The list has no cycle, and a new entry is a decision:
 * it says that one capability can't be understood without another.
 */
export const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  locks: ['teams'],
  trust: ['locks'],
  guardrails: ['trust'],
  verification: ['changesets', 'trust'],
  queue: ['changesets', 'guardrails', 'locks', 'teams', 'trust', 'verification'],
  mail: ['teams'],
  sessions: ['changesets', 'handoffs', 'locks', 'mail', 'queue', 'trust'],
  network: ['sessions', 'trust'],
  claims: ['sessions', 'trust'],
  promotion: ['claims', 'guardrails', 'locks', 'trust'],
  workdir: ['handoffs', 'queue', 'trust'],
  board: ['locks', 'teams', 'trust'],
  audit: ['claims', 'locks', 'queue'],
  overview: ['audit', 'board', 'claims', 'handoffs', 'locks', 'mail', 'queue', 'sessions', 'trust'],
};

/** Rooms of a slice that the registry and the transports load beside its index. */
const ROOMS = /^(?:operations|commands|entities)\.ts$/;

/**
 * Parts of a slice that are loaded by name when they are needed: commands of the command line, and what would make a short command or a
 * hook load much that it never uses. Only dynamic imports may name one.
 */
const LOADED_BY_NAME =
  /^src\/features\/(?:[\w-]+\/cli\/[\w-]+|claims\/(?:views\/show-converged|fleet\/(?:foreign-claims|claim-proposals))|guardrails\/(?:command-line|assess-text|diff\/assess-diff|sql\/assess-sql)|network\/settings\/network-settings|trust\/(?:notify\/detached|operations\/report-usage-operation))\.ts$/;

/** What else of src a folder may import. The runtime puts the slices together; everything below it knows none of them. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  ledger: ['kernel'],
  storage: ['kernel'],
  stores: ['kernel', 'ledger'],
  'command-analysis': ['kernel'],
  'child-process': ['kernel', 'ledger', 'command-analysis'],
};

/** The runtime's own core: it is given what it needs of the slices, and imports none. */
const CORE =
  /^src\/runtime\/(?:about|access|answer|audit-summary|call|coordinator|coordinator-context|coxswain|enforcement|housekeeper|input-schema|operation|service|waiting)\.ts$/;

function topOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function sliceOf(path: string): string | undefined {
  const [, top, slice] = path.split('/');
  return top === 'features' ? slice : undefined;
}

/** What of the slice is named: the path below its folder. */
function insideOf(path: string): string {
  return path.split('/').slice(3).join('/');
}

type Rule = (edge: Import) => string | undefined;

const throughItsIndex: Rule = ({ from, to, isDynamic }) => {
  const target = sliceOf(to);
  if (target === undefined || target === sliceOf(from)) return undefined;
  const inside = insideOf(to);
  if (/(?:^|\/)index\.ts$/.test(inside)) return undefined;
  const isRoom = ROOMS.test(inside) || inside === 'reclaim-commands.ts';
  if (isRoom && sliceOf(from) === undefined) return undefined;
  return isDynamic && LOADED_BY_NAME.test(to) ? undefined : 'past the slice’s index.ts';
};

const onlyAlongTheList: Rule = ({ from, to }) => {
  const [slice, target] = [sliceOf(from), sliceOf(to)];
  if (slice === undefined || target === undefined || slice === target) return undefined;
  return MAY_USE[slice]?.includes(target) === true ? undefined : `${slice} may not use ${target}`;
};

const layersPointDown: Rule = ({ from, to }) => {
  const allowed = LAYERS[topOf(from)];
  const target = topOf(to);
  if (allowed === undefined || target === topOf(from) || allowed.includes(target)) return undefined;
  return `${topOf(from)} may not import ${target}`;
};

const noStoreInTransports: Rule = ({ from, to }) =>
  /^(?:transports|features|client)$/.test(topOf(from)) && topOf(to) === 'stores'
    ? 'only the runtime opens stores'
    : undefined;

const coreKnowsNoSlice: Rule = ({ from, to }) =>
  CORE.test(from) && /^(?:features|transports|stores)$/.test(topOf(to))
    ? 'the core of the runtime knows no slice, transport or store'
    : undefined;

const slicesKnowTheCoreOnly: Rule = ({ from, to }) =>
  topOf(from) === 'features' &&
  topOf(to) === 'runtime' &&
  !/\/(?:cli|runner|proxy)\//.test(from) &&
  !CORE.test(to)
    ? 'a slice uses the core of the runtime, not what puts the slices together'
    : undefined;

const onlyScreensUseTransports: Rule = ({ from, to }) =>
  topOf(from) === 'features' && topOf(to) === 'transports' && !/\/(?:cli|runner|proxy|scheduler)\//.test(from)
    ? 'only a slice’s commands, runners and servers use a transport'
    : undefined;

const RULES: readonly Rule[] = [
  throughItsIndex,
  onlyAlongTheList,
  layersPointDown,
  noStoreInTransports,
  coreKnowsNoSlice,
  slicesKnowTheCoreOnly,
  onlyScreensUseTransports,
];

export function houseProblems(imports: readonly Import[]): string[] {
  return imports.flatMap((edge) =>
    RULES.flatMap((rule) => {
      const problem = rule(edge);
      return problem === undefined ? [] : [`${edge.from} → ${edge.to}: ${problem}`];
    }),
  );
}

/** A way from a slice back to itself, or undefined. */
export function cycleIn(uses: Readonly<Record<string, readonly string[]>>): string[] | undefined {
  const done = new Set<string>();
  const visit = (slice: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(slice)) return [...path.slice(path.indexOf(slice)), slice];
    if (done.has(slice)) return undefined;
    for (const next of uses[slice] ?? []) {
      const cycle = visit(next, [...path, slice]);
      if (cycle !== undefined) return cycle;
    }
    done.add(slice);
    return undefined;
  };
  for (const slice of Object.keys(uses)) {
    const cycle = visit(slice, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** Entries of the list that no import needs any more. */
export function unusedEntries(imports: readonly Import[]): string[] {
  const used = new Set(imports.map(({ from, to }) => `${sliceOf(from)} → ${sliceOf(to)}`));
  return Object.entries(MAY_USE)
    .flatMap(([slice, targets]) => targets.map((target) => `${slice} → ${target}`))
    .filter((entry) => !used.has(entry));
}
