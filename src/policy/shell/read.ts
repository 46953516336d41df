import {
  type Assignment,
  type Command,
  type For,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirected,
  type Statement,
  type SyntaxNode,
  type While,
} from 'unbash';
import { Budget } from './budget.ts';
import { builtin } from './builtins.ts';
import type { SimpleCommand } from './command.ts';
import { expandWord, type Shell } from './expand.ts';
import { ANY_NAME, type Place } from './parameters.ts';
import { assigned, isCondition, nameOf, redirected } from './parts.ts';
import { printedBy } from './prints.ts';
import { argumentWords, unwrap } from './unwrap.ts';
import { baseName, isKnown, type Lines, unknownWord, type Word, within } from './word.ts';
import { assign, distinct, revive, START, type World } from './world.ts';

/** The programs that a command line would run. */
export interface Reading {
  readonly commands: readonly SimpleCommand[];
  /** What only the running shell will know, in words. */
  readonly unknown: readonly string[];
}

const COMMANDS_MAX = 1000;
const ROUNDS_MAX = 64;
const CHARS_MAX = 256 * 1024;
/** Braces that nobody closes cost the parser the square of their number: 20,000 of them two seconds. */
const OPEN_BRACES = /(?:\{[^\s{}]*){200}/;
/** The other wrappers start a process of its own, whose folder and variables end with it. */
const IN_THIS_SHELL = /^(?:eval|builtin|command)$/;

/** What flows through a command: the lines it reads and those it prints; undefined where unknown, or of no interest. */
interface Flow {
  readonly input: Lines | undefined;
  printed: Word[] | undefined;
  readonly through: readonly string[];
}

type Worlds = readonly World[];

/**
 * Goes through a script as a shell would, without running anything: both ways at a branch, every round of a loop whose words
 * are known. Everything is bounded; what lies beyond the bounds is said to be unknown.
 */
class Reader {
  readonly commands: SimpleCommand[] = [];
  readonly unknown = new Set<string>();
  readonly #place: Place;
  readonly #functions = new Map<string, SyntaxNode>();
  readonly #budget = new Budget();

  constructor(place: Place) {
    this.#place = place;
  }

  reading(): Reading {
    const left = this.#budget.exceeded
      ? ['more commands, or deeper inside each other, than are looked at']
      : [];
    return { commands: this.commands, unknown: [...this.unknown, ...left] };
  }

  script(text: string, worlds: Worlds, flow: Flow): Worlds {
    if (text.length > CHARS_MAX || OPEN_BRACES.test(text)) {
      this.unknown.add('a script too long, or too deep, to be looked at');
      return worlds;
    }
    return this.#parsed(parse(text), worlds, flow);
  }

  /** A command as its words, all of the shell's work done. */
  words(words: readonly Word[], world: World, flow: Flow, outputs: readonly Word[] = []): Worlds {
    const [first] = words;
    if (!isKnown(first)) {
      if (first !== undefined) this.unknown.add(`${first.unknown} as a command`);
      this.#emit(words, world, flow, outputs);
      return [world];
    }
    const changed = builtin(words, world, flow.input, this.#place);
    const body = this.#functions.get(first.text);
    if (changed !== undefined || body !== undefined) {
      if (outputs.length > 0) this.#emit([], world, flow, outputs);
      if (changed !== undefined) return [changed];
    }
    return this.#budget.deeper([world], () =>
      body === undefined
        ? this.#program(words, world, flow, outputs)
        : this.#called(body, words, world, flow),
    );
  }

  #program(words: readonly Word[], world: World, flow: Flow, outputs: readonly Word[]): Worlds {
    const wrapped = unwrap(words, flow.input);
    const sent = outputs.length > 0;
    if (wrapped === undefined || wrapped.itself === true || sent) this.#emit(words, world, flow, outputs);
    const name = baseName(words[0]?.text ?? '');
    let after: Worlds = [world];
    for (const run of wrapped?.runs ?? []) {
      const through = [...flow.through, name];
      const inner: Flow = { ...flow, printed: sent ? [] : flow.printed, through };
      if ('unknown' in run) {
        this.unknown.add(run.unknown);
        inner.printed = undefined;
      } else if ('words' in run) {
        const folder = run.folder === undefined ? world.folder : within(world.folder, run.folder);
        const inside = this.words(run.words, { ...world, folder }, inner);
        if (IN_THIS_SHELL.test(name)) after = inside;
      } else {
        const [zero, ...parameters] = run.parameters ?? [];
        const own = zero === undefined ? world : { ...assign(world, [['0', [zero]]]), parameters };
        const inside = this.script(run.script, [own], inner);
        if (IN_THIS_SHELL.test(name)) after = inside;
      }
      if (!sent) flow.printed = inner.printed;
    }
    return after;
  }

  #emit(words: readonly Word[], world: World, flow: Flow, outputs: readonly Word[]): void {
    const { input, through } = flow;
    const name = baseName(words[0]?.text ?? '');
    const command = { name, args: words.slice(1), outputs, input, folder: world.folder, through };
    this.commands.push(command);
    if (this.commands.length === COMMANDS_MAX) this.#budget.end();
    // Worked out only where somebody reads it.
    if (flow.printed === undefined) return;
    const lines = printedBy(command, this.#place);
    flow.printed = lines === undefined ? undefined : flow.printed.concat(lines);
  }

  #called(body: SyntaxNode, words: readonly Word[], world: World, flow: Flow): Worlds {
    const after = this.#node(body, [{ ...world, parameters: words.slice(1) }], flow);
    const { parameters } = world;
    return revive(
      after.map((each) => ({ ...each, parameters })),
      'function',
    );
  }

  #parsed(script: ParsedScript, worlds: Worlds, flow: Flow): Worlds {
    for (const { message } of script.errors ?? []) this.unknown.add(`what the parser says: ${message}`);
    return this.#budget.deeper(worlds, () => this.#statements(script.commands, worlds, flow));
  }

  #statements(statements: readonly Statement[], worlds: Worlds, flow: Flow): Worlds {
    let now = worlds;
    for (const { command, background } of statements) {
      const after = this.#live(now, (live) => this.#node(command, live, flow));
      now = background === true ? now : after;
    }
    return now;
  }

  /** Runs on for those that have not met an `exit`. */
  #live(worlds: Worlds, run: (live: Worlds) => Worlds): Worlds {
    const live = worlds.filter(({ ended }) => ended === undefined);
    if (live.length === 0) return worlds;
    return distinct([...run(live), ...worlds.filter(({ ended }) => ended !== undefined)]);
  }

  #node(node: SyntaxNode, worlds: Worlds, flow: Flow): Worlds {
    if (!this.#budget.step()) return worlds;
    switch (node.type) {
      case 'Command':
        return distinct(worlds.flatMap((world) => this.#command(node, world, flow)));
      case 'Statement':
        return this.#statements([node], worlds, flow);
      case 'CompoundList':
        return this.#statements(node.commands, worlds, flow);
      case 'BraceGroup':
        return this.#node(node.body, worlds, flow);
      case 'Subshell':
      case 'Coproc':
        this.#node(node.body, worlds, flow);
        return worlds;
      case 'Pipeline':
        return this.#pipeline(node.commands, worlds, flow);
      case 'AndOr':
        return this.#andOr(node.commands, node.operators, worlds, flow);
      case 'Redirected':
        return distinct(worlds.flatMap((world) => this.#redirected(node, world, flow)));
      case 'Function':
        this.#functions.set(node.name.value, node.body);
        return worlds;
      case 'If':
      case 'Case':
        return this.#branches(node, worlds, flow);
      case 'While':
        return this.#while(node, worlds, flow);
      case 'For':
      case 'Select':
        return distinct(worlds.flatMap((world) => this.#for(node as For, world, flow)));
      default:
        return this.#other(node, worlds, flow);
    }
  }

  #redirected(node: Redirected, world: World, flow: Flow): Worlds {
    const { input, outputs } = redirected(node.redirects, flow.input, this.#shell(world));
    if (outputs.length > 0) this.#emit([], world, flow, outputs);
    const own: Flow = { ...flow, input, printed: outputs.length > 0 ? [] : flow.printed };
    const after = this.#node(node.command, [world], own);
    if (outputs.length === 0) flow.printed = own.printed;
    return after;
  }

  /** Arithmetic and tests: nothing but the substitutions in them, and counters that nobody can follow. */
  #other(node: SyntaxNode, worlds: Worlds, flow: Flow): Worlds {
    const counters = new Map<string, readonly Word[]>();
    const look = (child: SyntaxNode): void => {
      if (child.type === 'CompoundList') return;
      if (child.type === 'ArithmeticWord' && /^[A-Za-z_]\w*$/.test(child.value)) {
        counters.set(child.value, [ANY_NAME]);
      }
      forEachChild(child, look);
    };
    for (const world of worlds) this.#visit(node, world);
    forEachChild(node, look);
    const counted = counters.size === 0 ? worlds : worlds.map((world) => assign(world, counters));
    if (node.type !== 'ArithmeticFor') return counted;
    return revive(distinct([...counted, ...this.#node(node.body, counted, flow)]), 'loop');
  }

  #pipeline(commands: readonly SyntaxNode[], worlds: Worlds, flow: Flow): Worlds {
    const [only] = commands;
    if (commands.length === 1 && only !== undefined) return this.#node(only, worlds, flow);
    let input = flow.input;
    commands.forEach((command, index) => {
      const last = index === commands.length - 1;
      const own: Flow = { ...flow, input, printed: last ? flow.printed : [] };
      this.#node(command, worlds, own);
      if (last) flow.printed = own.printed;
      input = own.printed;
    });
    return worlds;
  }

  /**
   * `cd` is taken to succeed where something follows it with `&&`, and to have failed where something follows with `||`. After
   * any other command both may be: only a condition is expected to fail.
   */
  #andOr(commands: readonly SyntaxNode[], operators: readonly string[], worlds: Worlds, flow: Flow): Worlds {
    let before = worlds;
    let now = worlds;
    const skipped: World[] = [];
    commands.forEach((command, index) => {
      const previous = commands[index - 1];
      if (operators[index - 1] === '||') {
        const start = previous !== undefined && nameOf(previous) === 'cd' ? before : now;
        before = now;
        now = distinct([...now, ...this.#live(start, (live) => this.#node(command, live, flow))]);
        now = now.some(({ ended }) => ended === undefined)
          ? now.filter(({ ended }) => ended === undefined)
          : now;
        return;
      }
      if (previous !== undefined && isCondition(previous)) skipped.push(...now);
      before = now;
      now = this.#live(now, (live) => this.#node(command, live, flow));
    });
    return distinct([...now, ...skipped]);
  }

  #branches(node: Extract<SyntaxNode, { type: 'If' | 'Case' }>, worlds: Worlds, flow: Flow): Worlds {
    const after: World[] = [];
    let rest = worlds;
    if (node.type === 'Case') {
      for (const { body } of node.items) after.push(...this.#node(body, worlds, flow));
      const always = node.items.some(({ pattern }) => pattern.some(({ value }) => value === '*'));
      return distinct(always ? after : [...after, ...worlds]);
    }
    for (const { clause, then } of [node, ...node.elif]) {
      rest = this.#node(clause, rest, flow);
      after.push(...this.#live(rest, (live) => this.#node(then, live, flow)));
    }
    const others = node.else === undefined ? rest : this.#node(node.else, rest, flow);
    return distinct([...after, ...others]);
  }

  #while(node: While, worlds: Worlds, flow: Flow): Worlds {
    const [first] = node.clause.commands;
    const reads =
      node.clause.commands.length === 1 && first?.command.type === 'Command' ? first.command : undefined;
    const lines = reads?.name?.value === 'read' && node.kind === 'while' ? flow.input : undefined;
    if (lines !== undefined && lines.length > ROUNDS_MAX) this.unknown.add('a loop of many rounds');
    let now = worlds;
    // Of a loop that nobody can count, a second round: it sees what the first has changed.
    for (const line of lines?.slice(0, ROUNDS_MAX) ?? [undefined, undefined]) {
      const own: Flow = { ...flow, input: line === undefined ? flow.input : [line] };
      const before = now;
      now = this.#live(now, (live) => this.#node(node.body, this.#node(node.clause, live, own), own));
      if (line === undefined && distinct([...before, ...now]).length === before.length) break;
    }
    if (lines === undefined) flow.printed = undefined;
    return revive(distinct([...worlds, ...now]), 'loop');
  }

  #for(node: For, world: World, flow: Flow): Worlds {
    const shell = this.#shell(world);
    const words = node.wordlist?.flatMap((word) => expandWord(word, shell)) ??
      world.parameters ?? [unknownWord('"$@"')];
    if (words.length > ROUNDS_MAX) this.unknown.add('a loop of many rounds');
    let now: Worlds = [world];
    for (const word of words.slice(0, ROUNDS_MAX)) {
      const set = now.map((each) => assign(each, [[node.name.value, [word]]]));
      now = this.#live(set, (live) => this.#node(node.body, live, flow));
      now = now.map((each) => (each.ended === 'loop' ? { ...each, ended: undefined } : each));
    }
    return distinct(now);
  }

  #command(command: Command, world: World, flow: Flow): Worlds {
    const shellIn = (now: World): Shell => this.#shell(now);
    const shell = shellIn(world);
    const { outputs, input } = redirected(command.redirects, flow.input, shell);
    const assignments = command.prefix.filter((part): part is Assignment => part.type === 'Assignment');
    const prefixed = assigned(assignments, world, shellIn);
    const words = command.name === undefined ? [] : expandWord(command.name, shell);
    const declared: Assignment[] = [];
    for (const argument of command.args) {
      if (argument.type === 'Word') words.push(...expandWord(argument, shell));
      else declared.push(argument);
    }
    const own: Flow = { ...flow, input, printed: flow.printed };
    // A line of assignments alone keeps them; before a command they are its own.
    if (words.length === 0) {
      if (outputs.length > 0) this.#emit([], world, own, outputs);
      return [prefixed];
    }
    const after = this.words(
      words,
      declared.length > 0 ? assigned(declared, prefixed, shellIn) : prefixed,
      own,
      outputs,
    );
    flow.printed = own.printed;
    if (assignments.length === 0) return after;
    return after.map((each) =>
      each.variables === prefixed.variables ? { ...each, variables: world.variables } : each,
    );
  }

  #shell(world: World): Shell {
    return {
      place: this.#place,
      world,
      substitute: (script) => {
        const flow: Flow = { input: undefined, printed: [], through: ['$(…)'] };
        this.#parsed(script, [world], flow);
        return flow.printed;
      },
      visit: (node) => this.#visit(node, world),
    };
  }

  /** Reads the substitutions below a node of which nothing else is known. */
  #visit(node: SyntaxNode, world: World): void {
    const shell = this.#shell(world);
    const look = (child: SyntaxNode): void => {
      if (child.type === 'CompoundList') return;
      const nested = 'script' in child ? child.script : undefined;
      if (nested !== undefined) shell.substitute(nested);
      else forEachChild(child, look);
    };
    forEachChild(node, look);
  }
}

/** Reads a command line, or the argument list of a program, into the simple commands that would run. */
export function readCommands(command: string | readonly string[], place: Place): Reading {
  const reader = new Reader(place);
  const flow: Flow = { input: undefined, printed: undefined, through: [] };
  try {
    if (typeof command === 'string') reader.script(command, [START], flow);
    else reader.words(argumentWords(command), START, flow);
  } catch (error) {
    // Only a text nested beyond what the stack holds comes here; the analysis must not stop the agent.
    if (!(error instanceof RangeError)) throw error;
    reader.unknown.add('a command line too deep to be looked at');
  }
  return reader.reading();
}
