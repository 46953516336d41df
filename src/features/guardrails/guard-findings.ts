import { maskSecrets } from '../../command-analysis/secrets.ts';
import type { SimpleCommand } from '../../command-analysis/shell/shell-command.ts';
import { isKnown, within } from '../../command-analysis/shell/word.ts';
import type { Finding } from '../trust/index.ts';
import type { Detail, PatternText, Removal } from './pattern.ts';
import { patternOf } from './registry.ts';

const MATCHED_CHARS_MAX = 160;
const FINDINGS_MAX = 100;

/** What each finding would remove. A finding that is not in the map can't be excused. */
export type Removals = ReadonlyMap<Finding, readonly Removal[]>;

/** The work trees whose uncommitted changes a finding would throw away, if it does no other harm; undefined among them: unknown. */
export type Discards = ReadonlyMap<Finding, readonly (string | undefined)[]>;

/** A command on one line, shortened, without its secrets. */
function shownCommand({ name, args }: Pick<SimpleCommand, 'name' | 'args'>): string {
  const words = [name];
  let length = 0;
  for (const word of args) {
    if (length > MATCHED_CHARS_MAX) break;
    const text = isKnown(word) ? word.text : (word.source ?? word.unknown ?? '');
    words.push(text);
    length += text.length + 1;
  }
  return words.join(' ');
}

/** One line that people may read. */
export function shown(text: string): string {
  const line = maskSecrets(text.slice(0, 4 * MATCHED_CHARS_MAX))
    .replace(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
  return line.length > MATCHED_CHARS_MAX
    ? `${line.slice(0, MATCHED_CHARS_MAX).toWellFormed()}…`
    : line.toWellFormed();
}

const keyOf = ({ pattern, operation, matched }: Finding): string => `${pattern}\0${operation}\0${matched}`;

/** Collects findings, without duplicates. */
export class GuardFindings {
  readonly #findings = new Map<string, Finding>();
  readonly #removals = new Map<Finding, Removal[]>();
  readonly #discards = new Map<Finding, (string | undefined)[]>();

  get findings(): readonly Finding[] {
    return [...this.#findings.values()];
  }

  get removals(): Removals {
    return this.#removals;
  }

  get discards(): Discards {
    return this.#discards;
  }

  add(id: string, command: SimpleCommand | undefined, detail: Detail = {}): void {
    this.addPattern(id, patternOf(id), command, detail);
  }

  addPattern(
    id: string,
    pattern: PatternText,
    command: SimpleCommand | undefined,
    detail: Detail = {},
  ): void {
    const { category, operation, reason, instead } = pattern;
    const matched = shown(detail.matched ?? (command === undefined ? '' : shownCommand(command)));
    const finding: Finding = {
      category,
      operation: detail.operation ?? operation,
      pattern: id,
      matched,
      reason,
      instead,
      ...(detail.branch === undefined ? {} : { branch: detail.branch }),
    };
    const removals = command === undefined ? undefined : removalsOf(command, detail);
    const before = this.#findings.get(keyOf(finding));
    const tree = command === undefined ? undefined : treeOf(command, detail);
    if (before === undefined) {
      if (!this.#put(finding)) return;
      if (removals !== undefined) this.#removals.set(finding, removals);
      if (detail.discards_in !== undefined) this.#discards.set(finding, [tree]);
      return;
    }
    this.#discards.get(before)?.push(tree);
    // The same command in another folder is another loss: it is excused only if all of them are.
    const known = this.#removals.get(before);
    if (known === undefined || removals === undefined) this.#removals.delete(before);
    else for (const removal of removals) known.push(removal);
  }

  /** Files moved there in the same line are no build output, whatever the place is called. */
  distrust(paths: readonly string[]): void {
    if (paths.length === 0) return;
    const near = (path: string, other: string): boolean =>
      path === other || path.startsWith(`${other}/`) || other.startsWith(`${path}/`);
    for (const [finding, list] of this.#removals) {
      const bare = list.map(({ path }) => path.replace(/(?:\/\*+)+$|\/$/, ''));
      if (bare.some((path) => paths.some((other) => near(path, other)))) this.#removals.delete(finding);
    }
  }

  /** Findings of the judges of other languages. */
  report(findings: readonly Finding[]): void {
    for (const finding of findings) this.#put(finding);
  }

  /** The same thing found twice (once for each way through a branch) is one finding. */
  #put(finding: Finding): boolean {
    const key = keyOf(finding);
    if (this.#findings.has(key) || this.#findings.size >= FINDINGS_MAX) return false;
    this.#findings.set(key, finding);
    return true;
  }
}

/** Undefined if something that would be removed is unknown: then nothing about it can be excused. */
function removalsOf(command: SimpleCommand, { removes, how = 'tree' }: Detail): Removal[] | undefined {
  if (removes === undefined || removes.length === 0) return undefined;
  const found: Removal[] = [];
  for (const word of removes) {
    const path = within(command.folder, word);
    if (!isKnown(path) || path.text === '') return undefined;
    found.push({
      path: path.spelling ?? path.text,
      how: path.glob ? 'glob' : how,
      elsewhere: command.elsewhere === true,
    });
  }
  return found;
}

function treeOf(command: SimpleCommand, { discards_in }: Detail): string | undefined {
  if (discards_in === undefined || command.elsewhere === true) return undefined;
  const folder = within(command.folder, discards_in);
  return isKnown(folder) && !folder.glob ? folder.text : undefined;
}
