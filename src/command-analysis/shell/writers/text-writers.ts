import { writesInCode } from '../code/code-writes.ts';
import { codeOf } from '../interpreters.ts';
import { patchTargets } from '../patches.ts';
import { type OptionSpec, parseOptions } from '../program-options.ts';
import { readSed, sedFiles } from '../sed-script.ts';
import type { SimpleCommand } from '../shell-command.ts';
import type { ShellFindings, Writer } from '../shell-findings.ts';
import { isKnown, literal, mapWord, textOf, unknownWord, type Word } from '../word.ts';

/** Files changed in their place, with the copy that a suffix asks for. */
function inPlace(
  command: SimpleCommand,
  found: ShellFindings,
  files: readonly Word[],
  suffix: Word | undefined,
): void {
  found.file(command, files);
  if (!isKnown(suffix) || suffix.text === '' || /[*/]/.test(suffix.text)) return;
  found.file(
    command,
    files.filter(isKnown).map((file) => mapWord(file, (text) => text + suffix.text)),
  );
}

const sed: Writer = (command, found) => {
  const { options, seen, files } = readSed(command.args, command.input);
  found.file(command, sedFiles(seen).map(literal));
  if (options.has('-i', '-I', '--in-place'))
    inPlace(command, found, files, options.values('-i', '-I', '--in-place')[0]);
};

/** perl and ruby: `-i` rewrites the files named after the code. */
function editing(takes: string, attaches: string): Writer {
  return (command, found) => {
    const options = parseOptions(command.args, { takes, attaches });
    if (options.has('-i')) {
      const given = options.has('-e', '-E');
      inPlace(command, found, given ? options.operands : options.operands.slice(1), options.values('-i')[0]);
    }
    code(command, found);
  };
}

/** One-liners: the calls in their code that write. */
const code: Writer = (command, found) => {
  const source = codeOf(command.name, command.args, command.input);
  if (source === undefined) {
    // Started bare, it reads what a person types, or what a file contains.
    if (command.args.every(({ text }) => /^-(?:[iu]+)?$/.test(text)))
      found.unknown(`what ${command.name} reads`);
    return;
  }
  if (!isKnown(source)) return found.unknown(`${source.unknown} as the code of ${command.name}`);
  const { writes, unclear } = writesInCode(source.text);
  for (const { path, how } of writes) {
    if (how === 'tree') found.tree(command, literal(path));
    else found.file(command, literal(path));
  }
  for (const path of unclear) found.file(command, unknownWord(path));
};

/** `print … > "out.txt"`. In parentheses a `>` compares. The length is bounded because each `print` is tried. */
const AWK_PRINTS_TO = /\bprintf?\b[^;}()\n]{0,500}?>\s*"([^"\n]+)"/g;

const awk: Writer = (command, found) => {
  const options = parseOptions(command.args, { takes: '-i -f -F -v -e --include --file --assign' });
  const given = options.has('-f', '--file', '-e');
  const read = options.values('-f', '--file').some(({ text }) => /^(?:-|\/dev\/stdin)$/.test(text));
  const own = given ? options.values('-e')[0]?.text : options.operands[0]?.text;
  const program = own ?? (read ? textOf(command.input) : undefined) ?? '';
  for (const [, path = ''] of program.matchAll(AWK_PRINTS_TO)) found.file(command, literal(path));
  const editsInPlace = options.values('-i', '--include').some(({ text }) => text === 'inplace');
  const files = given ? options.operands : options.operands.slice(1);
  if (editsInPlace)
    found.file(
      command,
      files.filter(({ text }) => !/^\w+=/.test(text)),
    );
};

/** Editors are taken to save what they open. */
function editor(spec: OptionSpec): Writer {
  return (command, found) => {
    const options = parseOptions(command.args, spec);
    if (!options.has('-R', '--version', '-h', '--help')) {
      found.file(
        command,
        options.operands.filter(({ text }) => !text.startsWith('+')),
      );
    }
  };
}

/** The diff is in the input, or in a file that only the running program reads. */
export function patched(
  command: SimpleCommand,
  found: ShellFindings,
  strip: number,
  files: readonly Word[],
  folder?: Word,
): void {
  const text = files.length === 0 ? textOf(command.input) : undefined;
  if (text === undefined) {
    found.unknown(
      `the files that ${files.map((file) => file.text || file.unknown).join(', ') || 'its input'} changes`,
    );
    return;
  }
  const into = (path: string): Word => {
    return folder === undefined
      ? literal(path)
      : mapWord(folder, (at) => `${at.replace(/\/+$/, '')}/${path}`);
  };
  found.file(command, patchTargets(text, strip).map(into));
}

const patch: Writer = (command, found) => {
  const takes = '-p -i -d -o -r -B -D -F -V -z --strip --input --directory --output --reject-file';
  const options = parseOptions(command.args, { takes });
  if (options.has('--dry-run', '-C')) return;
  const output = options.values('-o', '--output')[0] ?? options.operands[0];
  if (output !== undefined) return found.file(command, output);
  const inputs = options.values('-i', '--input');
  const level = options.values('-p', '--strip')[0]?.text;
  // Without -p only the last name counts, unless the whole path exists; agents' diffs carry a/ and b/.
  patched(command, found, Number(level ?? 1) || 0, inputs, options.values('-d', '--directory')[0]);
};

const applyPatch: Writer = (command, found) => {
  const [argument] = command.args;
  if (argument !== undefined && !isKnown(argument)) return found.unknown(`${argument.unknown} as the patch`);
  const text = argument?.text ?? textOf(command.input);
  if (text === undefined) found.unknown('the files that apply_patch changes');
  else found.file(command, patchTargets(text, 1).map(literal));
};

export const textWriters: Readonly<Record<string, Writer>> = {
  sed,
  gsed: sed,
  perl: editing('-e -E -I -M', 'i0lF'),
  ruby: editing('-e -r -I -C', 'i0F'),
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  'original-awk': awk,
  python: code,
  node: code,
  nodejs: code,
  deno: code,
  php: code,
  ed: editor({ takes: '-p' }),
  ex: editor({ takes: '-c -S -u -t' }),
  vi: editor({ takes: '-c -S -u -t' }),
  vim: editor({ takes: '-c -S -u -t --cmd' }),
  nvim: editor({ takes: '-c -S -u -t --cmd' }),
  nano: editor({ takes: '-r -T' }),
  patch,
  apply_patch: applyPatch,
  applypatch: applyPatch,
  'apply-patch': applyPatch,
};
