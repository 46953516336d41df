import type { ShellPlace } from './parameters.ts';
import { printedBy, UNSEEN } from './prints.ts';
import type { Output, SimpleCommand } from './shell-command.ts';
import {
  baseName,
  isKnown,
  type Lines,
  literal,
  type Stream,
  shortFolder,
  type Word,
  within,
} from './word.ts';

const FILES_MAX = 50;
/** `--file=x`: the name of a file within an option. */
const IN_OPTION = /^--[a-z][\w-]*=(.+)$/s;

/**
 * What a command line itself writes into files: a later command that runs or prints one of them uses content
 * that is visible here.
 */
export class WrittenFiles {
  readonly #lines = new Map<string, Lines>();
  readonly #place: ShellPlace;

  constructor(place: ShellPlace) {
    this.#place = place;
  }

  #key(folder: Word, path: Word): string | undefined {
    const whole = shortFolder(within(literal(this.#place.cwd), within(folder, path)));
    return isKnown(whole) && !whole.glob ? whole.text : undefined;
  }

  /** What several commands together print into files. */
  put(folder: Word, files: readonly Output[], printed: Lines | undefined): void {
    const lines = printed?.includes(UNSEEN) === true ? undefined : printed;
    for (const file of files) this.#put(folder, file, file.beside === true ? undefined : lines);
  }

  #put(folder: Word, file: Output, lines: Lines | undefined): void {
    const key = this.#key(folder, file);
    if (key === undefined) return;
    const before = file.append === true ? this.#lines.get(key) : [];
    if (lines === undefined || before === undefined || this.#lines.size > FILES_MAX) this.#lines.delete(key);
    else this.#lines.set(key, [...before, ...lines]);
  }

  /** Takes note of what a command writes. */
  note(command: SimpleCommand): void {
    if (command.name === 'tee')
      for (const file of command.args.filter(({ text }) => !text.startsWith('-')))
        this.#put(command.folder, file, command.input);
    if (command.outputs.length > 0) {
      this.put(command.folder, command.outputs, printedBy({ ...command, outputs: [] }, this.#place));
    } else if (/^(?:cp|mv)$/.test(command.name) && this.#lines.size > 0) this.#copied(command);
  }

  #copied(command: SimpleCommand): void {
    const [from, to] = command.args.filter(({ text }) => !text.startsWith('-'));
    const lines = from === undefined ? undefined : this.read(command.folder, from)?.lines;
    if (to !== undefined && lines !== undefined) this.#put(command.folder, to, lines);
  }

  read(folder: Word, path: Word): Stream | undefined {
    if (this.#lines.size === 0 || !isKnown(path)) return undefined;
    const key = this.#key(folder, path);
    const lines = key === undefined ? undefined : this.#lines.get(key);
    return lines === undefined ? undefined : { lines, from: [] };
  }

  /** A command that is given such a file, or is one, with what is in it. */
  seen(words: readonly Word[], folder: Word): readonly Word[] {
    if (this.#lines.size === 0) return words;
    const [first, ...rest] = words;
    if (first === undefined) return words;
    const own = first.text.includes('/') ? this.read(folder, first) : undefined;
    if (own !== undefined) return [literal(interpreter(own)), { ...first, stream: own }, ...rest];
    return [
      first,
      ...rest.map((word) => {
        if (word.stream !== undefined || !isKnown(word)) return word;
        const inside = IN_OPTION.exec(word.text)?.[1];
        const stream = this.read(folder, inside === undefined ? word : literal(inside));
        return stream === undefined ? word : { ...word, stream };
      }),
    ];
  }
}

/** Of `#!/usr/bin/env python3` the last word's name. */
function interpreter({ lines }: Stream): string {
  const [path = '', argument] =
    /^#!\s*(.*)$/
      .exec(lines?.[0]?.text ?? '')?.[1]
      ?.trim()
      .split(/\s+/) ?? [];
  const name = baseName(path);
  return (name === 'env' ? argument : name) || 'sh';
}
