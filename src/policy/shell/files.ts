import type { Output, SimpleCommand } from './command.ts';
import type { Place } from './parameters.ts';
import { printedBy, UNSEEN } from './prints.ts';
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
/** Programs that run the file they are given. */
const RUNS_FILES =
  /^(?:(?:ba|z|da|k|a|mk)?sh|source|\.|python[\d.]*|node|deno|ruby|perl|php|bun|tsx|ts-node|lua)$/;

/** What a command line itself writes into files: whoever runs one of them later runs what can be seen here. */
export class WrittenFiles {
  readonly #lines = new Map<string, Lines>();
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  #key(folder: Word, path: Word): string | undefined {
    const whole = shortFolder(within(literal(this.#place.cwd), within(folder, path)));
    return isKnown(whole) && !whole.glob ? whole.text : undefined;
  }

  #put(command: SimpleCommand, file: Output, lines: Lines | undefined): void {
    const key = this.#key(command.folder, file);
    if (key === undefined) return;
    const before = file.append === true ? this.#lines.get(key) : [];
    if (lines === undefined || before === undefined || this.#lines.size > FILES_MAX) this.#lines.delete(key);
    else this.#lines.set(key, [...before, ...lines]);
  }

  /** Takes note of what a command writes. */
  note(command: SimpleCommand): void {
    if (command.outputs.length > 0) {
      const lines = printedBy({ ...command, outputs: [] }, this.#place);
      for (const file of command.outputs)
        this.#put(command, file, lines?.includes(UNSEEN) === true ? undefined : lines);
    } else if (command.name === 'tee')
      for (const file of command.args.filter(({ text }) => !text.startsWith('-')))
        this.#put(command, file, command.input);
    else if (/^(?:cp|mv)$/.test(command.name) && this.#lines.size > 0) this.#copied(command);
  }

  #copied(command: SimpleCommand): void {
    const [from, to] = command.args.filter(({ text }) => !text.startsWith('-'));
    const lines = from === undefined ? undefined : this.read(command.folder, from)?.lines;
    if (to !== undefined && lines !== undefined) this.#put(command, to, lines);
  }

  read(folder: Word, path: Word): Stream | undefined {
    if (this.#lines.size === 0 || !isKnown(path)) return undefined;
    const key = this.#key(folder, path);
    const lines = key === undefined ? undefined : this.#lines.get(key);
    return lines === undefined ? undefined : { lines, from: [] };
  }

  /** A command that runs such a file, with what is in it. */
  seen(words: readonly Word[], folder: Word): readonly Word[] {
    if (this.#lines.size === 0) return words;
    const [first, ...rest] = words;
    if (first === undefined) return words;
    const own = first.text.includes('/') ? this.read(folder, first) : undefined;
    if (own !== undefined) return [literal(interpreter(own)), { ...first, stream: own }, ...rest];
    if (!RUNS_FILES.test(first.text)) return words;
    return [
      first,
      ...rest.map((word) => {
        const stream = word.text.startsWith('-') ? undefined : this.read(folder, word);
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
