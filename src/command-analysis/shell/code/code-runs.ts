import { baseName, literal } from '../word.ts';
import type { Inner } from '../wrap.ts';
import { Expressions } from './code-expressions.ts';
import { type Token, tokensOf } from './code-tokens.ts';
import { concatenated, HOLE, HOME, unknown, type Value } from './code-value.ts';

const CHARS_MAX = 20_000;
const RUNS_MAX = 100;
const DEPTH_MAX = 3;

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** They pass a string to a shell, or a list of words to the system. */
const STARTS = names(
  'system popen popen2 popen3 getoutput getstatusoutput check_output check_call run call Popen exec execSync shell_exec passthru proc_open spawn spawnSync execFile execFileSync execv execve execvp execvpe execl execle execlp execlpe spawnl spawnlp spawnv spawnvp posix_spawn create_subprocess_shell create_subprocess_exec execa execaSync execaCommand execaCommandSync Command capture2 capture2e capture3 execute sh shell',
);
/** They run a string as code of their own language. */
const EVALUATES = names(
  'eval Function runInThisContext runInNewContext runInContext instance_eval class_eval',
);
const REMOVES_TREES = names(
  'rmtree rm_rf rm_r remove_dir remove_entry remove_entry_secure rimraf rimrafSync emptyDir emptyDirSync removeSync remove_tree deleteSync deleteAsync',
);
const REMOVES = names('rm rmSync rmdir rmdirSync unlink unlinkSync remove delete trash rm_f');
const QUERIES = names(
  'execute executescript executemany query raw exec do $queryRawUnsafe $executeRawUnsafe $executeRaw $queryRaw prepare unsafe',
);
const FETCHES = names(
  'urlopen urlretrieve requests urllib httpx fetch axios got http https get open_uri URI file_get_contents curl_exec LWP',
);
const DECODES = names(
  'b64decode base64_decode decode64 fromhex unhexlify atob fromCharCode chr decompress gunzipSync inflateSync inflate loads unpack rot13 str_rot13 hex2bin decode_base64 fromCodePoint',
);

const RUNS_CODE = names('eval exec Function instance_eval');
const REPEATS = names('for while loop iter forever');
const LISTS = names('listdir scandir readdirSync readdir glob iglob globSync rglob iterdir walk');
const GOES_THROUGH = names('forEach each map');
const RECURSIVE = names('recursive');
const WRITES = names('writeFile writeFileSync file_put_contents write writeTextFile writeTextFileSync');
const CUTS = names('truncate truncateSync');

/** Where a program gets text that is not visible here. */
const OUTSIDE = names('stdin argv ARGV input readline gets environ ENV $ENV getenv STDIN');

/** A value as it has to be written for a shell. */
function spelled(value: Value): string {
  if (value.kind === 'number') return String(value.number);
  if (value.kind !== 'text') return '"$unknown_part"';
  const bare = value.glob === true ? value.text : `'${value.text.replaceAll("'", `'\\''`)}'`;
  return bare
    .replaceAll(HOME, value.glob === true ? '"$HOME"' : `'"$HOME"'`)
    .replaceAll(HOLE, `'"$unknown_part"'`);
}

function asScript(text: string): string {
  return text.replaceAll(HOME, '$HOME').replaceAll(HOLE, '$unknown_part');
}

function flat(values: readonly Value[]): Value[] {
  return values.flatMap((value) => (value.kind === 'list' ? flat(value.items) : [value]));
}

/** A single statement of SQL. As a shell's it would run nothing: no program is called that. */
function isStatement(value: Value | undefined): boolean {
  return (
    value?.kind === 'text' &&
    !value.text.includes('$(') &&
    /^\s*(?:create|insert\s+into|drop|delete\s+from|update|alter|select|pragma)\s[^;|&`<>\n]*;?\s*$/i.test(
      value.text,
    )
  );
}

class CodeReader {
  readonly #tokens: readonly Token[];
  readonly #read: Expressions;
  readonly #language: string;
  readonly #depth: number;
  readonly #runs: Inner[] = [];
  /** The last listing: loops go over it. */
  #listing: Value = unknown('…');
  /** A shell was opened to be written to. */
  #pipes = false;

  constructor(source: string, language: string, depth: number) {
    this.#tokens = tokensOf(source.slice(0, CHARS_MAX));
    this.#read = new Expressions(this.#tokens, new Map());
    this.#language = language;
    this.#depth = depth;
  }

  runs(): Inner[] {
    // In Python, a loop may come after what it repeats: names first.
    this.#tokens.forEach(({ kind, value }, at) => {
      if (kind !== 'name') return;
      this.#assigned(at, value);
      this.#looped(at, value);
    });
    this.#wholeText();
    for (let at = 0; at < this.#tokens.length && this.#runs.length < RUNS_MAX; at += 1) {
      const token = this.#tokens[at] as Token;
      if (token.kind === 'name') {
        this.#assigned(at, token.value);
        this.#looped(at, token.value);
        this.#named(at, token.value);
      } else if (token.kind === 'text' && token.backquoted === true) this.#backquoted(at);
      else if (token.value === ']' && this.#read.is(at + 1, '(')) this.#indexed(at);
    }
    return this.#runs;
  }

  /** What is recognised by names anywhere in a text, because values are not followed that far. */
  #wholeText(): void {
    const named = new Set(this.#tokens.map(({ kind, value }) => (kind === 'name' ? value : '')));
    const has = (wanted: ReadonlySet<string>): boolean => wanted.values().some((each) => named.has(each));
    const address = (): boolean =>
      this.#tokens.some(({ kind, value }) => kind === 'text' && /^(?:https?|ftp):/.test(value));
    if (has(RUNS_CODE) && has(FETCHES) && address())
      this.#runs.push({ unknown: 'code that is fetched', from: [{ name: 'curl', args: [] }] });
    if (named.has('fork') && has(REPEATS)) this.#runs.push({ script: 'bomb() { bomb | bomb & }; bomb' });
  }

  #value(at: number): Value {
    return this.#read.expression(at).value;
  }

  /** `x = …`, `x += …`, `import a as b`, `{ exec: run }`. */
  #assigned(at: number, name: string): void {
    const { variables } = this.#read;
    const next = this.#tokens[at + 1];
    if (this.#read.is(at + 1, '=')) variables.set(name, this.#value(at + 2));
    else if (this.#read.is(at + 1, '+=') || this.#read.is(at + 1, '.='))
      variables.set(name, concatenated(variables.get(name) ?? unknown('…'), this.#value(at + 2)));
    else if (next?.kind === 'name' && next.value === 'as') {
      const other = this.#tokens[at + 2];
      if (other?.kind === 'name') variables.set(other.value, { kind: 'function', name });
    } else if (STARTS.has(name) && this.#read.is(at + 1, ':')) {
      const other = this.#tokens[at + 2];
      if (other?.kind === 'name') variables.set(other.value, { kind: 'function', name });
    }
    if (LISTS.has(name) && this.#read.is(at + 1, '(')) this.#listing = this.#listed(at);
  }

  #listed(at: number): Value {
    // `Path('x').rglob('*')`: the value starts before the dot.
    let start = at;
    while (
      start > 0 &&
      at - start < 12 &&
      !this.#read.is(start - 1, '\n') &&
      !this.#read.is(start - 1, ';')
    ) {
      const before = this.#tokens[start - 1];
      if (before?.kind === 'name' && /^(?:in|of|for)$/.test(before.value)) break;
      if (before?.kind === 'sign' && !/^[.)(\]]$/.test(before.value)) break;
      start -= 1;
    }
    for (const from of [start, at]) {
      const value = this.#value(from);
      if (value.kind === 'text') return { ...value, glob: true };
    }
    return { kind: 'text', text: '*', glob: true };
  }

  /** `for f in …`, `for (const f of …)`, `.forEach(f => …)`, `.each { |f| … }`. */
  #looped(at: number, name: string): void {
    const { variables } = this.#read;
    if (name === 'for' || name === 'foreach') {
      const found: string[] = [];
      for (let here = at + 1; here < at + 12; here += 1) {
        const token = this.#tokens[here];
        if (token?.kind === 'name' && /^(?:in|of)$/.test(token.value)) {
          const value = this.#value(here + 1);
          for (const each of found)
            variables.set(each, value.kind === 'list' ? (value.items[0] ?? value) : value);
          return;
        }
        if (token?.kind === 'name' && !/^(?:const|let|var)$/.test(token.value)) found.push(token.value);
      }
    }
    if (!GOES_THROUGH.has(name)) return;
    const parameter = this.#tokens.slice(at + 1, at + 5).find(({ kind }) => kind === 'name');
    if (parameter !== undefined) variables.set(parameter.value, this.#listing);
  }

  #named(at: number, name: string): void {
    const meant = this.#read.variables.get(name);
    const callee = meant?.kind === 'function' ? meant.name : name;
    const next = this.#tokens[at + 1];
    const before = this.#tokens[at - 1]?.value;
    if (next?.kind === 'text' && name === 'script' && before === 'shell') this.#script(this.#value(at + 1));
    if (name === 'print' && this.#pipes) this.#printedTo(at);
    if (this.#read.is(at + 1, '(')) {
      const { values, end } = this.#read.list(at + 1, 0);
      // `getattr(os, 'system')('…')`
      if (callee === 'getattr' && this.#read.is(end, '(')) {
        const [, chosen] = values;
        if (chosen?.kind === 'text') this.#call(chosen.text, this.#read.list(end, 0).values, end, at);
      } else this.#call(callee, values, at + 1, at);
    } else if (
      next?.kind === 'text' &&
      (STARTS.has(callee) || REMOVES.has(callee) || REMOVES_TREES.has(callee) || callee === '$')
    ) {
      // Ruby, Perl and tagged templates need no parentheses.
      if (/^\$|\$$/.test(name) || callee === 'sh') this.#script(this.#value(at + 1));
      else this.#call(callee, this.#bare(at + 1), at, at);
    } else if (next?.kind === 'name' && (callee === 'unlink' || REMOVES_TREES.has(callee)))
      this.#call(callee, this.#bare(at + 1), at, at);
  }

  /** Arguments without parentheses, up to the end of the statement. */
  #bare(from: number): Value[] {
    const values: Value[] = [];
    for (let at = from; values.length < 50; ) {
      const { value, end } = this.#read.expression(at);
      values.push(value);
      if (!this.#read.is(end, ',')) break;
      at = end + 1;
    }
    return values;
  }

  #backquoted(at: number): void {
    if (/^(?:ruby|perl|php)/.test(this.#language)) this.#script(this.#value(at));
    else if (this.#tokens[at]?.value !== undefined && /^%x|qx/.test(this.#language))
      this.#script(this.#value(at));
  }

  /** `cp['ex' + 'ec']('…')` */
  #indexed(at: number): void {
    let open = at;
    while (open > 0 && at - open < 20 && !this.#read.is(open, '[')) open -= 1;
    const name = this.#value(open + 1);
    if (name.kind === 'text') this.#call(name.text, this.#read.list(at + 1, 0).values, at + 1, at);
  }

  /** `open(P, "|sh"); print P "…"` of Perl. */
  #printedTo(at: number): void {
    const text = this.#tokens.slice(at + 1, at + 4).findIndex(({ kind }) => kind === 'text');
    if (text !== -1) this.#script(this.#value(at + 1 + text));
  }

  #call(called: string, values: readonly Value[], open: number, at: number): void {
    const [first] = values;
    const name = called.endsWith('!') || called.endsWith('?') ? called.slice(0, -1) : called;
    const owner = this.#read.is(at - 1, '.') ? this.#tokens[at - 2] : undefined;
    if (
      name === 'open' &&
      values.some((value) => value.kind === 'text' && /^\|\s*(?:\/bin\/)?(?:ba|z|da)?sh\b/.test(value.text))
    )
      this.#pipes = true;
    // `"rm -rf x".execute()` of Groovy, `sh.rm("-rf", "x")` of Python's sh.
    if (name === 'execute' && values.length === 0 && owner?.kind === 'text')
      this.#script({ kind: 'text', text: owner.value });
    if (owner?.kind === 'name' && owner.value === 'sh') this.#list([{ kind: 'text', text: name }, ...values]);
    if (
      name === 'sync' &&
      first !== undefined &&
      this.#tokens.some(({ kind, value }) => kind === 'text' && value === 'rimraf')
    )
      this.#remove(first, true);
    if (name === 'array_map' && first?.kind === 'text' && REMOVES.has(first.text))
      this.#remove(values[1] ?? unknown('…'), false);
    this.#emptied(name, values, open);
    if (EVALUATES.has(name) || (name === 'exec' && this.#language.startsWith('py')))
      this.#evaluated(first, open);
    else if (STARTS.has(name) && !(QUERIES.has(name) && isStatement(first))) this.#started(values, open);
    if (QUERIES.has(name)) this.#queried(first);
    const recursive = REMOVES_TREES.has(name) || (REMOVES.has(name) && this.#mentions(open, RECURSIVE));
    if (!recursive && !REMOVES.has(name)) return;
    const target = first ?? this.#owner(at);
    if (target !== undefined && (recursive || target.kind === 'text'))
      for (const each of flat([target])) if (recursive || each.kind === 'text') this.#remove(each, recursive);
  }

  /** `open(x, 'w').close()`, `writeFileSync(x, '')`, `truncateSync(x)`. */
  #emptied(name: string, values: readonly Value[], open: number): void {
    const [file, second] = values;
    if (file?.kind !== 'text') return;
    const nothing = second?.kind === 'text' && second.text === '';
    const writes = nothing && WRITES.has(name);
    const cuts =
      CUTS.has(name) && (second === undefined || (second.kind === 'number' && second.number === 0));
    const opens = name === 'open' && second?.kind === 'text' && /^w/.test(second.text);
    if (writes || cuts || (opens && this.#closedAt(this.#read.list(open, 0).end)))
      this.#runs.push({ script: `truncate -s 0 -- ${spelled(file)}` });
  }

  #closedAt(end: number): boolean {
    return this.#read.is(end, '.') && this.#tokens[end + 1]?.value === 'close';
  }

  /** `f.unlink()`: what is before the dot. */
  #owner(at: number): Value | undefined {
    const owner = this.#tokens[at - 2];
    return this.#read.is(at - 1, '.') && owner?.kind === 'name'
      ? this.#read.variables.get(owner.value)
      : undefined;
  }

  #remove(target: Value, recursive: boolean): void {
    this.#runs.push({ script: `rm ${recursive ? '-rf' : '-f'} -- ${spelled(target)}` });
  }

  #script(value: Value): void {
    if (value.kind !== 'text' || value.text.startsWith(HOLE)) return;
    this.#runs.push({ script: asScript(value.text) });
  }

  #started(values: readonly Value[], open: number): void {
    const [first, ...rest] = values;
    if (first === undefined) return;
    if (first.kind === 'text') {
      // A mode of Node or Perl may follow (`'inherit'`), and the command's words may be in a list or
      // separate.
      const words =
        rest.filter(({ kind }) => kind === 'list').length > 0
          ? flat(rest.filter(({ kind }) => kind === 'list'))
          : rest.filter(({ kind }) => kind === 'text');
      const sole = words.length === 0 || /\s/.test(first.text.trim());
      if (sole) this.#script(first);
      const repeats = words[0]?.kind === 'text' && baseName(words[0].text) === baseName(first.text);
      if (words.length > 0) this.#list([first, ...(repeats ? words.slice(1) : words)]);
    } else if (first.kind === 'list') this.#list(flat(first.items));
    else this.#hidden(open);
  }

  #list(values: readonly Value[]): void {
    const [first] = values;
    if (first?.kind !== 'text' || first.text.startsWith(HOLE)) return;
    this.#runs.push({ script: values.map(spelled).join(' ') });
  }

  #evaluated(value: Value | undefined, open: number): void {
    if (value?.kind === 'text' && this.#depth < DEPTH_MAX)
      this.#runs.push(...new CodeReader(value.text, this.#language, this.#depth + 1).runs());
    else this.#hidden(open);
  }

  /** What would run is downloaded, or decoded in a way that is not followed. */
  #hidden(open: number): void {
    if (this.#mentions(open, FETCHES))
      this.#runs.push({ unknown: 'code that is fetched', from: [{ name: 'curl', args: [literal('code')] }] });
    else if (this.#mentions(open, OUTSIDE))
      this.#runs.push({ unknown: 'what it is given while running', from: [] });
    else if (this.#mentions(open, DECODES))
      this.#runs.push({ unknown: 'what is decoded while running', from: [{ name: 'decode', args: [] }] });
  }

  /** Is one of these names between the parentheses? */
  #mentions(open: number, wanted: ReadonlySet<string>): boolean {
    let depth = 0;
    for (let at = open; at < this.#tokens.length && at < open + 200; at += 1) {
      const token = this.#tokens[at] as Token;
      if (token.kind === 'name' && wanted.has(token.value)) return true;
      if (token.kind !== 'sign') continue;
      if (/^[([{]$/.test(token.value)) depth += 1;
      else if (/^[)\]}]$/.test(token.value)) depth -= 1;
      if (depth === 0 && at > open) return false;
    }
    return false;
  }

  #queried(value: Value | undefined): void {
    if (value?.kind !== 'text' || !/^\s*(?:drop|truncate|delete|update|alter)\s/i.test(value.text)) return;
    // An in-memory database contains no data to lose, unless another one is named beside it.
    const texts = this.#tokens.filter(({ kind }) => kind === 'text').map(({ value: given }) => given);
    const elsewhere = (text: string): boolean => /\.(?:db3?|sqlite3?|duckdb)$|:\/\/|\battach\b/i.test(text);
    if (texts.includes(':memory:') && !texts.some(elsewhere)) return;
    this.#runs.push({ words: [literal('psql'), literal('-c'), literal(value.text.replaceAll(HOLE, 'x'))] });
  }
}

/**
 * The commands that a program in another language would run, and the trees it would remove, expressed as
 * commands that do the same.
 */
export function runsInCode(source: string, language: string): Inner[] {
  return new CodeReader(source, language.toLowerCase(), 0).runs();
}
