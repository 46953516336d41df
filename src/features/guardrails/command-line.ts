import {
  filesWrittenIn,
  type Place,
  type Reading,
  readCommands,
  type Touched,
} from '../../command-analysis/shell/analyse-shell.ts';
import { readsOnly } from '../../command-analysis/shell/readers.ts';
import { isKnown } from '../../command-analysis/shell/word.ts';
import type { Permission } from '../../runtime/access.ts';
import { type Assessment, assessReading } from './assess.ts';
import { possiblyCheckedOut } from './checked-out.ts';
import { isCurrent } from './programs/git-push.ts';
import { permissionOfCommand } from './push-permission.ts';

export { assessCommand } from './assess.ts';

/** A command line that is read once, for all its checks. */
export interface CommandLine {
  /** Which files it would write. */
  readonly touched: Touched;
  /** Whether it is known that none of its programs writes to a file. */
  readonly readsOnly: boolean;
  /** What is dangerous about it. */
  readonly assessment: Assessment;
  /** What a profile has to allow for it, besides running commands: pushes have permissions of their own. */
  readonly permissions: readonly Permission[];
}

export function lookAt(command: string | readonly string[], place: Place): CommandLine {
  const reading = readCommands(command, place);
  const touched = filesWrittenIn(reading);
  return {
    touched,
    readsOnly: readsOnly(reading, touched),
    assessment: assessReading(reading, place),
    permissions: permissionsIn(reading, place),
  };
}

function permissionsIn({ commands }: Reading, place: Place): Permission[] {
  const found = commands.flatMap(({ name, args }, index) => {
    if (name !== 'git' || !args.some(({ text }) => text === 'push')) return [];
    const words = ['git', ...args.map(({ text }) => text)];
    const known = possiblyCheckedOut(commands, index, place);
    const isTold = !known.includes(undefined) && args.every((word) => isKnown(word) || isCurrent(word));
    // An unknown branch may be main: the rules about main apply as well, as for a forced push.
    const branches = isTold ? known : [...known, undefined, 'main'];
    return branches.map((branch) => permissionOfCommand(words, branch));
  });
  // A forced push is a finding, which the guardrails and a person decide about.
  return [...new Set(found)].filter((permission) => /^git_push(?!_force)/.test(permission));
}
