import {
  type ParameterExpansionPart,
  type ParsedScript,
  parse,
  type SyntaxNode,
  type WordPart,
} from 'unbash';
import { expandBraces } from './braces.ts';
import { ANY_NAME, operate, type ShellPlace, variable, whereabouts } from './parameters.ts';
import { isKnown, literal, type Stream, unknownPart, unknownWord, unquoted, type Word } from './word.ts';
import type { World } from './world.ts';

type SourceWord = Extract<SyntaxNode, { type: 'Word' }>;

/** The context in which a word is expanded: variables, folder, and a reader for the commands inside it. */
export interface Shell {
  readonly place: ShellPlace;
  readonly world: World;
  /** Reads a substitution's commands; returns what they print, where known, and which commands they are. */
  substitute(script: ParsedScript): Stream;
  /** What the command line itself has written into a file. */
  file(path: Word): Stream | undefined;
  /** Reads the substitutions anywhere below. */
  visit(node: SyntaxNode): void;
}

/** Beyond these limits a word, or the words it splits into, count as unknown: `x=$x$x` doubles each time. */
const TEXT_CHARS_MAX = 256 * 1024;
const WORDS_MAX = 1000;

/** A variable in the middle of a word of letters: `p${nothing}ush`, `-$x-force`. Most likely it is empty. */
const VARIABLE = /\$\{\w+\}|\$[@*]/g;
const GLUED = /^(?:[A-Za-z-]+(?:\$\{\w+\}|\$[@*]))+[A-Za-z-]+$/;

interface Draft {
  text: string;
  spelling: string;
  wild: boolean;
  brackets: boolean;
  unknown: Word | undefined;
  source: string;
  tail: string;
  stream: Stream | undefined;
}

/** The words that one word expands to: it may split into several, or into none. */
class Fields {
  readonly #done: Draft[] = [];
  #current: Draft | undefined;

  #draft(): Draft {
    this.#current ??= {
      text: '',
      spelling: '',
      wild: false,
      brackets: false,
      unknown: undefined,
      source: '',
      tail: '',
      stream: undefined,
    };
    return this.#current;
  }

  add(text: string, spelling = text): void {
    const draft = this.#draft();
    if (draft.source.length + spelling.length > TEXT_CHARS_MAX)
      draft.unknown ??= unknownWord('a very long word');
    else {
      draft.text += text;
      draft.spelling += spelling;
      draft.source += spelling;
      draft.tail += spelling;
    }
  }

  addPattern(text: string, spelling: string, brackets: boolean): void {
    this.add(text, spelling);
    const draft = this.#draft();
    if (brackets) draft.brackets = true;
    else draft.wild = true;
  }

  addWord(word: Word): void {
    if (word.unknown !== undefined) {
      const draft = this.#draft();
      draft.unknown ??= word;
      if (draft.source.length < TEXT_CHARS_MAX) draft.source += word.source ?? word.unknown;
      draft.tail = word.tail ?? '';
    } else if (word.glob) this.addPattern(word.text, word.spelling ?? word.text, word.spelling !== undefined);
    else this.add(word.text);
  }

  addStream(stream: Stream): void {
    this.add('/dev/fd/63');
    this.#draft().stream = stream;
  }

  /** Each is a separate word; the first is joined to what precedes it. */
  addEach(words: readonly Word[]): void {
    words.forEach((word, index) => {
      if (index > 0) this.end();
      this.addWord(word);
    });
  }

  end(): void {
    if (this.#current !== undefined) this.#done.push(this.#current);
    this.#current = undefined;
  }

  words(): Word[] {
    this.end();
    if (this.#done.length > WORDS_MAX) return [unknownWord('a great many words')];
    return this.#done.map(({ text, spelling, wild, brackets, unknown, source, tail, stream }) => {
      // A word without its full source (a very long word) has no source either.
      if (unknown !== undefined) {
        if (unknown.source === undefined) return unknown;
        const glued = GLUED.test(source) ? source.replace(VARIABLE, '') : undefined;
        return { ...unknown, source, tail, ...(glued === undefined ? {} : { glued }) };
      }
      if (wild) return { text, glob: true };
      if (stream !== undefined) return { text, glob: false, stream };
      return brackets ? { text, glob: true, spelling } : literal(text);
    });
  }
}

/** The characters at which the shell splits words: `IFS`, white space by default. */
function separators({ world }: Shell): RegExp {
  const [own] = world.variables.get('IFS') ?? [];
  if (!isKnown(own) || own.text === '' || /^\s+$/.test(own.text)) return /\s+/;
  return new RegExp(`[${own.text.slice(0, 20).replace(/[\]\\^-]/g, '\\$&')}]+`);
}

/** An unquoted value is split, also from what precedes and follows it. */
function insertPieces(fields: Fields, words: readonly Word[], shell: Shell): void {
  words.forEach((word, index) => {
    if (index > 0) fields.end();
    if (word.glob || word.unknown !== undefined) {
      fields.addWord(word);
      return;
    }
    const pieces = word.text.split(separators(shell));
    pieces.forEach((piece, at) => {
      if (at > 0) fields.end();
      if (piece !== '') fields.addWord(unquoted(piece));
    });
  });
}

function insert(fields: Fields, words: readonly Word[], quoted: boolean, each: boolean, shell: Shell): void {
  if (!quoted) insertPieces(fields, words, shell);
  else if (each) fields.addEach(words);
  else {
    words.forEach((word, index) => {
      if (index > 0) fields.add(' ');
      fields.addWord(word);
    });
  }
}

/** The words that `${…}` stands for. */
function parameterWords(part: ParameterExpansionPart, shell: Shell): readonly Word[] {
  const { parameter, operation, prefix, index, text } = part;
  if (prefix === '#') return [ANY_NAME];
  let words = variable(parameter, shell.place, shell.world);
  if (prefix === '!') {
    const [named] = words ?? [];
    words = isKnown(named) ? variable(named.text, shell.place, shell.world) : undefined;
  }
  const all = /^[@*]$/.test(index?.value ?? parameter);
  const named = index === undefined || all ? undefined : keyedValue(parameter, index.value, shell);
  if (named !== undefined) words = named;
  else if (words !== undefined && !all) {
    const at = Number(index?.value ?? 0);
    words = Number.isInteger(at) ? words.slice(at, at + 1) : undefined;
  }
  if (operation?.type === 'Default') {
    const empty = words === undefined || words.every((word) => word.text === '' && isKnown(word));
    const { operator, operand } = operation;
    // A variable that nothing here sets may still be set: the command that is written out counts.
    if (operator.endsWith('+')) return empty && words !== undefined ? [] : expandWord(operand, shell);
    // The environment can't be seen; the author's default is the best guess.
    if (empty && !operator.endsWith('?')) return expandWord(operand, shell);
  } else if (operation?.type === 'Slice' && operation.length?.value.trim() === '0') return [literal('')];
  else if (operation !== undefined) {
    words = words?.map((word) => operate(word, operation, text));
  }
  return words ?? [unknownPart(text)];
}

/** `${m[key]}`, if the key is a name or a known variable. */
function keyedValue(parameter: string, key: string, shell: Shell): readonly Word[] | undefined {
  const name = /^\$\{?(\w+)\}?$/.exec(key)?.[1];
  const [held] = name === undefined ? [] : (variable(name, shell.place, shell.world) ?? []);
  const bare = (held === undefined ? key : held.text).replace(/^(['"])(.*)\1$/, '$2');
  return shell.world.variables.get(`${parameter}[${bare}]`);
}

function expandPart(fields: Fields, part: WordPart, shell: Shell, quoted: boolean): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      fields.add(part.value);
      break;
    case 'Glob':
      if (quoted) fields.add(part.value);
      else if (part.kind === 'bracket') fields.addPattern('?', part.value, true);
      else fields.addPattern(part.value, part.value, false);
      break;
    case 'DoubleQuoted':
    case 'LocaleString':
      // `""` is a word too.
      if (part.parts.length === 0) fields.add('');
      for (const inner of part.parts) expandPart(fields, inner, shell, true);
      break;
    case 'SimpleExpansion': {
      const name = part.text.slice(1);
      const words = variable(name, shell.place, shell.world) ?? [unknownPart(part.text)];
      insert(fields, /^[@*]$/.test(name) ? words : words.slice(0, 1), quoted, name === '@', shell);
      break;
    }
    case 'ParameterExpansion':
      insert(
        fields,
        parameterWords(part, shell),
        quoted,
        (part.index?.value ?? part.parameter) === '@',
        shell,
      );
      break;
    case 'CommandExpansion': {
      const printed = part.script === undefined ? undefined : shell.substitute(part.script);
      const lines = printed?.lines ?? [unknownPart(part.text, printed?.from)];
      // Within quotes the lines stay lines, and are one text. A shell that reads it would not meet the same
      // unknown again.
      if (quoted && printed !== undefined && lines.length > 1 && lines.some(({ unsure }) => unsure === true))
        fields.addWord({ ...unknownWord(part.text), from: printed.from });
      else if (quoted)
        lines.forEach((line, index) => {
          if (index > 0) fields.add('\n');
          fields.addWord(line);
        });
      else insert(fields, lines, false, false, shell);
      break;
    }
    case 'ArithmeticExpansion':
      shell.visit(part);
      fields.addWord(ANY_NAME);
      break;
    case 'ProcessSubstitution':
      if (part.script === undefined || part.operator === '>') {
        if (part.script !== undefined) shell.substitute(part.script);
        fields.add('/dev/fd/63');
      } else fields.addStream(shell.substitute(part.script));
      break;
    case 'ExtendedGlob':
    case 'BraceExpansion':
      fields.addPattern('*', part.text, false);
  }
}

/** `~`, `~/x`, `~+/x` at the start of a word; undefined if there is none. */
function tilde(source: string, shell: Shell): { folder: Word; length: number } | undefined {
  if (!source.startsWith('~')) return undefined;
  const match = /^~([+-]|[\w.-]*)(?=\/|$)/.exec(source);
  if (match === null) return undefined;
  const [prefix = '', name] = match;
  const { place, world } = shell;
  const home = place.home === undefined ? unknownPart('~') : literal(place.home);
  const folder =
    name === ''
      ? home
      : name === '+'
        ? whereabouts(place, world)
        : name === '-'
          ? (world.folders_before[0] ?? unknownWord('~-'))
          : unknownWord(prefix);
  return { folder, length: prefix.length };
}

function expandInto(fields: Fields, word: SourceWord, shell: Shell, quoted: boolean): Word[] {
  const start = tilde(word.text, shell);
  if (start !== undefined) fields.addWord(start.folder);
  const skipped = start?.length ?? 0;
  if (word.parts === undefined) fields.add(word.value.slice(skipped));
  else {
    word.parts.forEach((part, index) => {
      if (index === 0 && skipped > 0 && part.type === 'Literal') fields.add(part.value.slice(skipped));
      else expandPart(fields, part, shell, quoted);
    });
  }
  return fields.words();
}

function expandOne(word: SourceWord, shell: Shell): Word[] {
  return expandInto(new Fields(), word, shell, false);
}

/** Nothing in it needs expansion. Most words are like that, and the parser would read each once more. */
const PLAIN = /^[\w./:=,@%+-]+$/;

/** The content of the quotes around a whole word, if there is nothing else in it. */
function quotedWhole(text: string): string | undefined {
  const first = text.charAt(0);
  if ((first !== "'" && first !== '"') || text.indexOf(first, 1) !== text.length - 1 || text.length < 2)
    return undefined;
  const inside = text.slice(1, -1);
  return first === '"' && /[$`\\]/.test(inside) ? undefined : inside;
}

/** The source of one word, parsed again after its braces were expanded. */
function parseWord(source: string): SourceWord | undefined {
  const command = parse(`: ${source}`).commands[0]?.command;
  const word = command?.type === 'Command' ? command.args[0] : undefined;
  return word?.type === 'Word' ? word : undefined;
}

export function expandWord(word: SourceWord, shell: Shell): Word[] {
  const plain = PLAIN.test(word.text) ? word.text : quotedWhole(word.text);
  if (plain !== undefined && plain.length <= TEXT_CHARS_MAX) return [literal(plain)];
  const braces = word.parts?.some((part) => part.type === 'BraceExpansion') === true;
  const sources = braces ? expandBraces(word.text) : undefined;
  if (sources === undefined) return expandOne(word, shell);
  return sources.flatMap((source) => {
    const parsed = parseWord(source);
    return parsed === undefined ? [unknownWord(source)] : expandOne(parsed, shell);
  });
}

/** Where the shell does not split words: the value of an assignment, the text of a here-string. */
export function expandValue(word: SourceWord, shell: Shell): Word {
  const fields = new Fields();
  fields.add('');
  return expandInto(fields, word, shell, true)[0] ?? literal('');
}

/** A here-document's text. An unknown part keeps its source: a shell that reads it meets the same unknown. */
export function expandText(parts: readonly WordPart[], shell: Shell): string {
  return parts
    .map((part) => {
      const fields = new Fields();
      fields.add('');
      expandPart(fields, part, shell, true);
      const [word] = fields.words();
      return word === undefined || word.unknown !== undefined || word.glob ? part.text : word.text;
    })
    .join('');
}
