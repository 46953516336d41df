import { GIT_GLOBAL } from '../../../command-analysis/shell/git-names.ts';
import { afterOptions } from '../../../command-analysis/shell/program-options.ts';
import { isKnown, mapWord, type Word, within } from '../../../command-analysis/shell/word.ts';
import type { Run } from '../pattern.ts';

/** A git command with its own options parsed. */
export interface GitCommand {
  readonly verb: string;
  readonly rest: readonly Word[];
  /** `-c key=value` and `--config-env key=variable`, keys in lower case. */
  readonly settings: readonly (readonly [string, string])[];
}

export function gitOf({ args }: Pick<Run, 'args'>): GitCommand | undefined {
  const start = afterOptions(args, 0, GIT_GLOBAL);
  const verb = args[start];
  if (!isKnown(verb)) return undefined;
  const settings = args.slice(0, start).flatMap((word, index, own) => {
    const given = /^(?:-c|--config-env)$/.test(word.text)
      ? own[index + 1]?.text
      : /^(?:-c|--config-env=)(.+=.*)$/s.exec(word.text)?.[1];
    const equals = given?.indexOf('=') ?? -1;
    return given === undefined || equals < 1
      ? []
      : [[given.slice(0, equals).toLowerCase(), given.slice(equals + 1)] as const];
  });
  return { verb: verb.text.toLowerCase(), rest: args.slice(start + 1), settings };
}

/** Puts the folder that `-C` changes to before a path. */
export function inGitFolder({ args }: Pick<Run, 'args'>, path: Word): Word {
  const start = afterOptions(args, 0, GIT_GLOBAL);
  return args.slice(0, start).reduceRight((inner, word, index) => {
    const folder = word.text === '-C' ? args[index + 1] : undefined;
    return folder === undefined ? inner : within(folder, inner);
  }, path);
}

/** `:/`, `:(top)x` as a path. */
export function pathspec(word: Word): Word {
  return mapWord(word, (text) => text.replace(/^:(?:\/|\(top\)|\(glob\))/, '') || '.');
}

/** A word of `checkout` that looks like a path and not a branch. */
export function looksLikePath({ text, glob }: Word): boolean {
  return glob || /^(?:\.{1,2}\/?|:\/.*|\*)$|^\.{1,2}\/|[^/.]\.[A-Za-z]\w{0,5}$|\/$/.test(text);
}
