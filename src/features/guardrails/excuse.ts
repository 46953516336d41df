import type { ShellPlace } from '../../command-analysis/shell/parameters.ts';
import { literal, shortFolder, within } from '../../command-analysis/shell/word.ts';
import type { Category, Finding } from '../trust/index.ts';
import type { Assessment } from './assess.ts';
import { isTemporary } from './known-places.ts';
import type { Removal } from './pattern.ts';
import { isBuildOutput, isTemporaryName } from './well-known.ts';

/**
 * What is legitimate inside a dangerous pattern. `build_output`: ignored by git and of a kind that is
 * recreated. `temporary_files`: made to be removed. `committed_files`: all of it is in git, unchanged. `own_worktree`: uncommitted
 * changes in the agent's own linked worktree, if a person has allowed that.
 */
export const RULES = ['build_output', 'temporary_files', 'committed_files', 'own_worktree'] as const;

export type ExcuseRule = (typeof RULES)[number];

/** What git says about paths, relative to the workspace's root. */
export interface RepositoryFacts {
  isIgnored(path: string): boolean;
  /** The path exists, and everything in it is tracked and unchanged. */
  isCommitted(path: string): boolean;
  /** Nothing exists there that could be overwritten. */
  isAbsent(path: string): boolean;
}

export interface Excused extends Assessment {
  readonly excused: readonly { readonly finding: Finding; readonly rule: ExcuseRule }[];
}

/** Where a removal is: inside the workspace, with its path there, or elsewhere. */
interface Located {
  readonly inside?: string;
  readonly absolute: string;
}

function locate({ path }: Removal, place: ShellPlace): Located {
  const absolute = shortFolder(within(literal(place.cwd), literal(path))).text;
  const root = shortFolder(literal(place.root ?? place.cwd)).text;
  return absolute.startsWith(root === '/' ? '/' : `${root}/`)
    ? { absolute, inside: absolute.slice(root === '/' ? 1 : root.length + 1) }
    : { absolute };
}

/** Without its stars, does it still name something? `*`, `**`, `./*` mean everything. */
function isEverything(path: string): boolean {
  return path.replace(/[*?./]/g, '') === '';
}

function ruleFor(
  removal: Removal,
  category: Category,
  place: ShellPlace,
  facts: RepositoryFacts | undefined,
  off: ReadonlySet<string>,
): ExcuseRule | undefined {
  const { inside, absolute } = locate(removal, place);
  const path = removal.elsewhere ? removal.path : (inside ?? absolute);
  if (isEverything(path)) return undefined;
  const temporary =
    removal.elsewhere || inside === undefined ? isTemporary(absolute, place) : isTemporaryName(inside);
  if (temporary && !off.has('temporary_files')) return 'temporary_files';
  if (removal.elsewhere)
    return isBuildOutput(removal.path) && !off.has('build_output') ? 'build_output' : undefined;
  if (inside === undefined) return undefined;
  if (isBuildOutput(inside) && !off.has('build_output') && (facts === undefined || facts.isIgnored(inside)))
    return 'build_output';
  // Writing a new file loses nothing if there was none before.
  const safe =
    facts?.isCommitted(inside) === true || (category === 'overwrite' && facts?.isAbsent(inside) === true);
  return safe && !off.has('committed_files') ? 'committed_files' : undefined;
}

/** Removes the findings that the rules excuse: everything a finding would remove must be excused. */
export function excuse(
  assessment: Assessment,
  place: ShellPlace,
  facts: RepositoryFacts | undefined,
  switchedOff: Iterable<string> = [],
): Excused {
  const off = new Set(switchedOff);
  const excused: { finding: Finding; rule: ExcuseRule }[] = [];
  const findings = assessment.findings.filter((finding) => {
    if (
      place.isOwnWorktree === true &&
      !off.has('own_worktree') &&
      staysIn(place, assessment.discards.get(finding))
    ) {
      excused.push({ finding, rule: 'own_worktree' });
      return false;
    }
    const removals = assessment.removals.get(finding) ?? [];
    const rules = removals.map((removal) => ruleFor(removal, finding.category, place, facts, off));
    const [rule] = rules;
    if (rule === undefined || rules.some((each) => each === undefined)) return true;
    excused.push({ finding, rule });
    return false;
  });
  return { ...assessment, findings, excused };
}

function staysIn({ cwd, root = cwd }: ShellPlace, trees: readonly (string | undefined)[] = []): boolean {
  return (
    trees.length > 0 &&
    trees.every((tree) => {
      if (tree === undefined) return false;
      const folder = shortFolder(within(literal(cwd), literal(tree))).text;
      return folder === root || folder.startsWith(`${root}/`);
    })
  );
}

/** What git has to be asked about: every path inside the workspace that does not mean everything. */
export function pathsToAsk({ removals }: Assessment, place: ShellPlace): readonly string[] {
  const asked = new Set<string>();
  for (const list of removals.values())
    for (const removal of list) {
      const { inside } = locate(removal, place);
      if (inside !== undefined && !removal.elsewhere && !isEverything(inside)) asked.add(inside);
    }
  return [...asked];
}
