import {
  type Assignment,
  type Command,
  type For,
  type ParsedScript,
  parse,
  type Redirected,
  type Select,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import { Budget } from './budget.ts';
import { builtin } from './builtins.ts';
import { andOr, branches, live, perhaps, pipeline, type Walk } from './control.ts';
import { Doubts } from './doubts.ts';
import { expandWord, type Shell } from './expand.ts';
import { gitHelpers } from './git-names.ts';
import { forLoop, uncountedLoop, whileLoop } from './loops.ts';
import { countersIn, startsItselfTwice, substitutionsIn } from './nodes.ts';
import type { ShellPlace } from './parameters.ts';
import { printedBy, substituted, UNSEEN } from './prints.ts';
import { programFirst, programWord } from './program-name.ts';
import { type Flow, isSure, type Reading, simpleCommand } from './reading.ts';
import { GROUP, isSentAway, type Output, type SimpleCommand } from './shell-command.ts';
import { Functions, type Meaning } from './shell-functions.ts';
import { Names } from './shell-names.ts';
import { argumentWords, unwrap } from './unwrap.ts';
import { baseName, literal, unknownWord, type Word, within } from './word.ts';
import { aliasWord, assigned, assignmentsOf, redirected } from './word-parts.ts';
import { assign, inEach, revive, START, type World, type Worlds } from './world.ts';
import type { Inner } from './wrap.ts';
import { WrittenFiles } from './written-files.ts';

const COMMANDS_MAX = 1000;
const TOO_MUCH = 'more commands, or deeper inside each other, than are looked at';
/** A function inside itself: a fourth round shows nothing new. */
const RECURSION_MAX = 3;
/** The other wrappers start a process of its own, whose folder and variables end with it. */
const IN_THIS_SHELL = /^(?:eval|builtin|command)$/;
/** They have their scripts read by this shell, too, which knows its functions. */
const READ_HERE = /^(?:source|\.|trap)$/;
/** These run what they wrap at once and wait for its end; others may do it later, or beside what follows. */
const AT_ONCE = /^(?:eval|builtin|command|env|sudo|time|timeout|nice|(?:ba|z|da|k)?sh)$/;

/**
 * Goes through a script as a shell would, without running anything: both ways at a branch, every round of a loop whose words
 * are known. Everything is bounded; what lies beyond the bounds is said to be unknown.
 */
class Reader {
  readonly commands: SimpleCommand[] = [];
  readonly doubts = new Doubts();
  readonly #place: ShellPlace;
  readonly #functions = new Functions();
  readonly #names = new Names();
  readonly #files: WrittenFiles;
  readonly #walk: Walk = {
    node: (node, worlds, flow) => this.#node(node, worlds, flow),
    unknown: (what) => this.doubts.say(what),
    commands: this.commands,
  };
  #lastShell: Shell | undefined;
  readonly #shellIn = (world: World): Shell => this.#shell(world);
  readonly #budget = new Budget();

  constructor(place: ShellPlace) {
    this.#place = place;
    this.#files = new WrittenFiles(place);
  }

  reading(): Reading {
    if (this.#budget.exceeded) this.doubts.limit(TOO_MUCH);
    return { commands: this.commands, unknown: this.doubts.unknown, opaque: this.doubts.opaque };
  }

  script(text: string, worlds: Worlds, flow: Flow): Worlds {
    if (this.#budget.holds(text, flow.through.length > 0)) return this.#parsed(parse(text), worlds, flow);
    this.doubts.limit('a script too long, or too deep, to be looked at');
    return worlds;
  }

  /** A command as its words, all of the shell's work done. */
  words(
    given: readonly Word[],
    world: World,
    flow: Flow,
    { outputs = [], direct = false }: { outputs?: readonly Output[]; direct?: boolean } = {},
  ): Worlds {
    const called = given[0]?.glued === undefined ? given[0] : literal(given[0].glued);
    const first = called === undefined ? undefined : programWord(called);
    if (called === undefined || first === undefined) {
      if (called !== undefined) {
        const { unknown = '', source = unknown, from = [] } = called;
        this.doubts.runs({ kind: 'command', source, from }, `${unknown} as a command`);
      }
      this.#emit(given, world, flow, outputs);
      return [world];
    }
    const words = this.#files.seen(programFirst(first, given), world.folder);
    // A path, or what stands in a variable of the environment, is no function.
    const meanings = direct || first !== called ? [undefined] : this.#meanings(first.text, flow);
    return inEach([world], () =>
      meanings.flatMap((body) => {
        if (body === undefined) return this.#itself(words, world, flow, outputs);
        const own: Flow = { ...flow, through: [...flow.through, first.text] };
        return this.#budget.deeper([world], () =>
          this.#sending(outputs, world, own, flow, () => this.#called(body, words, world, own)),
        );
      }),
    );
  }

  /** A program, or what the shell does by itself. */
  #itself(words: readonly Word[], world: World, flow: Flow, outputs: readonly Output[]): Worlds {
    const changed = builtin(words, world, flow.input, this.#place);
    if (changed === undefined)
      return this.#budget.deeper([world], () => this.#program(words, world, flow, outputs));
    this.#functions.note(words, isSure(flow));
    if (outputs.length > 0) this.#group(world, flow, outputs);
    return [changed];
  }

  /** What several commands print into files, or pass on to the reader of their joint output. */
  #sending(outputs: readonly Output[], world: World, own: Flow, flow: Flow, run: () => Worlds): Worlds {
    if (outputs.length > 0) this.#group(world, flow, outputs);
    const sent = isSentAway(outputs);
    if (sent) own.printed = [];
    const after = run();
    if (sent) this.#files.put(world.folder, outputs, own.printed);
    else flow.printed = own.printed;
    return after;
  }

  #group(world: World, flow: Flow, outputs: readonly Output[]): void {
    this.#emit([literal(GROUP)], world, { ...flow, printed: undefined }, outputs);
  }

  #meanings(name: string, { through }: Flow): readonly Meaning[] {
    const meanings = this.#functions.called(name);
    const isFunction = meanings.some((body) => body !== undefined);
    if (!isFunction || through.filter((each) => each === name).length < RECURSION_MAX) return meanings;
    this.doubts.say(TOO_MUCH);
    return [undefined];
  }

  #program(words: readonly Word[], world: World, flow: Flow, outputs: readonly Output[]): Worlds {
    const name = baseName(words[0]?.text ?? '');
    // An alias to itself is the program: `alias rm='rm -i'`.
    const meaning = flow.through.includes(name) ? undefined : this.#names.meaning(words, world);
    const wrapped = meaning === undefined ? unwrap(words, flow.input) : { runs: [meaning] };
    const learned = this.#names.learn(words);
    const also =
      name === 'git' && meaning === undefined ? [...learned, ...gitHelpers(words, world)] : learned;
    // A wrapper without anything to wrap does something of its own: `env` prints.
    const itself = wrapped === undefined || wrapped.itself === true || wrapped.runs.length === 0;
    const sent = isSentAway(outputs);
    if (itself) this.#emit(words, world, flow, outputs);
    else if (outputs.length > 0) this.#emit(words, world, { ...flow, printed: undefined }, outputs);
    let after: Worlds = [world];
    if (wrapped !== undefined && wrapped.runs.length > 0) {
      const own: Flow = { ...flow, elsewhere: flow.elsewhere === true || wrapped.elsewhere === true };
      if (sent) own.printed = [];
      // What git stands for runs in a process of git's.
      after = this.#inner(wrapped.runs, name, world, own, meaning !== undefined && name !== 'git');
      if (wrapped.again === true) own.printed = own.printed?.concat(UNSEEN);
      if (!sent) flow.printed = own.printed;
      else if (!itself) this.#files.put(world.folder, outputs, own.printed);
    }
    if (also.length > 0) this.#inner(also, name, world, { ...flow, printed: undefined });
    return after;
  }

  /** What a wrapper runs, or what an alias stands for. */
  #inner(runs: readonly Inner[], name: string, world: World, flow: Flow, isAlias = false): Worlds {
    // Many a shell expands no aliases: both may be.
    const before: Worlds = isAlias ? [world] : [];
    const stays = isAlias || IN_THIS_SHELL.test(name);
    let after: Worlds = [world];
    for (const run of runs) {
      const through = [...flow.through, name];
      const afterSuccessOf = AT_ONCE.test(name) ? flow.afterSuccessOf : undefined;
      const inner: Flow = { ...flow, through, afterSuccessOf };
      if ('unknown' in run) {
        const { unknown: source, reads = false, from = reads ? flow.from : [] } = run;
        this.doubts.runs({ kind: reads ? 'input' : 'script', source, from });
        inner.printed = undefined;
      } else if ('words' in run) {
        const folder = run.folder === undefined ? world.folder : within(world.folder, run.folder);
        const direct = !isAlias && name !== 'time';
        const inside = this.words(run.words, { ...world, folder }, inner, { direct });
        if (stays) after = [...before, ...inside];
      } else {
        const [zero, ...parameters] = run.parameters ?? [];
        const own = zero === undefined ? world : { ...assign(world, [['0', [zero]]]), parameters };
        const read = (): Worlds => this.script(run.script, [own], inner);
        const inside = stays || READ_HERE.test(name) ? read() : this.#functions.inProcess(read);
        if (stays) after = [...before, ...inside];
      }
      flow.printed = inner.printed;
    }
    return after;
  }

  #emit(words: readonly Word[], world: World, flow: Flow, outputs: readonly Output[]): void {
    const command = simpleCommand(words, world, flow, outputs);
    this.commands.push(command);
    this.#files.note(command);
    if (this.commands.length === COMMANDS_MAX) this.#budget.end();
    // Computed only where it is read.
    if (flow.printed === undefined) return;
    flow.printed = flow.printed.concat(printedBy(command, this.#place) ?? [UNSEEN]);
  }

  #called(body: SyntaxNode, words: readonly Word[], world: World, own: Flow): Worlds {
    const after = this.#node(body, [{ ...world, parameters: words.slice(1) }], own);
    const { parameters } = world;
    return revive(
      after.map((each) => ({ ...each, parameters })),
      'function',
    );
  }

  #parsed(script: ParsedScript, worlds: Worlds, flow: Flow): Worlds {
    for (const { message } of script.errors ?? []) {
      this.doubts.runs({ kind: 'unreadable', source: message, from: [] }, `what the parser says: ${message}`);
    }
    return this.#budget.deeper(worlds, () => this.#statements(script.commands, worlds, flow));
  }

  #statements(statements: readonly Statement[], worlds: Worlds, flow: Flow): Worlds {
    let now = worlds;
    for (const { command, background } of statements) {
      if (background === true) live(now, (those) => this.#beside(command, those, flow));
      else now = live(now, (those) => this.#node(command, those, flow));
    }
    return now;
  }

  /** In a process of its own, at the same time as what follows. */
  #beside(node: SyntaxNode, worlds: Worlds, flow: Flow): Worlds {
    const own: Flow = { ...flow, afterSuccessOf: undefined };
    perhaps(node, worlds, own, this.#walk);
    flow.printed = own.printed;
    return worlds;
  }

  #node(node: SyntaxNode, worlds: Worlds, flow: Flow): Worlds {
    if (!this.#budget.step()) return worlds;
    switch (node.type) {
      case 'Command':
        return inEach(worlds, (world) => this.#command(node, world, flow));
      case 'Statement':
        return this.#statements([node], worlds, flow);
      case 'CompoundList':
        return this.#statements(node.commands, worlds, flow);
      case 'BraceGroup':
        return this.#node(node.body, worlds, flow);
      case 'Subshell':
        perhaps(node.body, worlds, flow, this.#walk);
        return worlds;
      case 'Coproc':
        return this.#beside(node.body, worlds, flow);
      case 'Pipeline':
        return pipeline(node.commands, worlds, flow, this.#walk);
      case 'AndOr':
        return andOr(node, worlds, flow, this.#walk);
      case 'Redirected':
        return inEach(worlds, (world) => this.#redirected(node, world, flow));
      case 'Function':
        this.#functions.define(node.name.value, node.body, isSure(flow));
        if (startsItselfTwice(node.body, node.name.value))
          this.doubts.note({ kind: 'bomb', source: node.name.value, from: [] });
        return worlds;
      case 'If':
      case 'Case':
        return branches(node, worlds, flow, this.#walk);
      case 'While':
        return whileLoop(node, worlds, flow, this.#walk);
      case 'For':
      case 'Select':
        return inEach(worlds, (world) => this.#for(node, world, flow));
      default:
        return this.#other(node, worlds, flow);
    }
  }

  #redirected(node: Redirected, world: World, flow: Flow): Worlds {
    const {
      input,
      outputs,
      reads,
      from = flow.from,
    } = redirected(node.redirects, flow.input, this.#shell(world));
    const own: Flow = { ...flow, input, from, reads };
    return this.#sending(outputs, world, own, flow, () => this.#node(node.command, [world], own));
  }

  /** Arithmetic and tests: only the substitutions in them matter, and counters that can't be followed. */
  #other(node: SyntaxNode, worlds: Worlds, flow: Flow): Worlds {
    for (const world of worlds) this.#visit(node, world);
    const counters = countersIn(node);
    const counted = counters.size === 0 ? worlds : worlds.map((world) => assign(world, counters));
    if (node.type !== 'ArithmeticFor') return counted;
    return uncountedLoop(counted, flow, (those, own) => this.#node(node.body, those, own));
  }

  #for(node: For | Select, world: World, flow: Flow): Worlds {
    const shell = this.#shell(world);
    const words = node.wordlist?.flatMap((word) => expandWord(word, shell)) ??
      world.parameters ?? [unknownWord('"$@"')];
    return forLoop(node, words, world, flow, this.#walk);
  }

  #command(command: Command, world: World, flow: Flow): Worlds {
    const shellIn = this.#shellIn;
    const shell = this.#shell(world);
    const { outputs, input, reads, from = flow.from } = redirected(command.redirects, flow.input, shell);
    const assignments = assignmentsOf(command);
    const prefixed = assignments.length === 0 ? world : assigned(assignments, world, shellIn);
    const words = command.name === undefined ? [] : expandWord(command.name, shell);
    const declared: Assignment[] = [];
    for (const argument of command.args) {
      if (argument.type === 'Word') for (const word of expandWord(argument, shell)) words.push(word);
      else if (words[0]?.text === 'alias') words.push(aliasWord(argument, shell));
      else declared.push(argument);
    }
    const own: Flow = {
      ...flow,
      input,
      from,
      reads: flow.reads === undefined ? reads : [...reads, ...flow.reads],
    };
    // A line of assignments alone keeps them; before a command they are its own.
    if (words.length === 0) {
      if (outputs.length > 0) this.#emit([], world, own, outputs);
      return [prefixed];
    }
    const after = this.words(
      words,
      declared.length > 0 ? assigned(declared, prefixed, shellIn) : prefixed,
      own,
      { outputs },
    );
    flow.printed = own.printed;
    if (assignments.length === 0) return after;
    return after.map((each) =>
      each.variables === prefixed.variables ? { ...each, variables: world.variables } : each,
    );
  }

  /** Most commands find the world as the one before has left it. */
  #shell(world: World): Shell {
    if (this.#lastShell?.world !== world) this.#lastShell = this.#newShell(world);
    return this.#lastShell;
  }

  #newShell(world: World): Shell {
    return {
      place: this.#place,
      world,
      substitute: (script) => {
        const flow: Flow = { input: undefined, from: [], printed: [], through: ['$(…)'] };
        const start = this.commands.length;
        this.#parsed(script, [world], flow);
        return { lines: substituted(flow.printed), from: this.commands.slice(start) };
      },
      file: (path) => this.#files.read(world.folder, path),
      visit: (node) => this.#visit(node, world),
    };
  }

  /** Reads the substitutions below a node of which nothing else is known. */
  #visit(node: SyntaxNode, world: World): void {
    const shell = this.#shell(world);
    for (const script of substitutionsIn(node)) shell.substitute(script);
  }
}

/** Reads a command line, or the argument list of a program, into the simple commands that would run. */
export function readCommands(command: string | readonly string[], place: ShellPlace): Reading {
  const reader = new Reader(place);
  const flow: Flow = { input: undefined, from: [], printed: undefined, through: [], afterSuccessOf: [] };
  try {
    if (typeof command === 'string') reader.script(command, [START], flow);
    else reader.words(argumentWords(command), START, flow);
  } catch (error) {
    // Only a text nested beyond what the stack holds comes here; the analysis must not stop the agent.
    if (!(error instanceof RangeError)) throw error;
    reader.doubts.limit('a command line too deep to be looked at');
  }
  return reader.reading();
}
