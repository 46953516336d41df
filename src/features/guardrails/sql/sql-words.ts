import { assembled, assignments } from './dynamic.ts';
import { DROPPED, type Hit, REMADE, type SqlOperation } from './hazards.ts';
import { assignedByClient, judgeClient } from './sql-client.ts';
import { isWord, namesAfter } from './sql-names.ts';
import { type Dialect, type Token, tokenise } from './sql-tokens.ts';
import { conditionOf, depths, isAlwaysTrue } from './sql-where.ts';

/** After these a statement can begin, as at the start of the text or of a bracket. */
const OPENERS = new Set([
  'BEGIN',
  'THEN',
  'ELSE',
  'DO',
  'LOOP',
  'AS',
  'GO',
  'END',
  'ATOMIC',
  'ANALYZE',
  'IMMEDIATE',
  '$$',
]);
/** Before these words it is a privilege, an event or a clause, and no statement. */
const NO_STATEMENT = new Set([
  'ON',
  'FOR',
  'OF',
  'BEFORE',
  'AFTER',
  'OR',
  'KEY',
  'INSTEAD',
  'GRANT',
  'REVOKE',
]);
/** Where no semicolon is needed, a new statement ends the one before it. */
const NEXT_STATEMENT =
  /^(?:DELETE|UPDATE|DROP|TRUNCATE|INSERT|EXEC|EXECUTE|GO|COMMIT|ROLLBACK|PRINT|DECLARE|MERGE)$/;
const DEPTH_MAX = 3;
/**
 * The look-ahead from a verb, and the number of findings, are bounded per text: a statement of a hundred
 * pages must not take minutes.
 */
const REACH_TOKENS = 5000;
const HITS_MAX = 100;
const LOOKED_TOKENS_MAX = 2_000_000;

export interface SqlContext {
  readonly dialect: Dialect;
  /** The body of a function or a block: what it EXECUTEs is text. */
  readonly procedural?: boolean;
  readonly depth?: number;
  /** Temporary tables created earlier in the text. */
  readonly temporary?: Set<string>;
}

/** What SQL would do, judged by its words: for what PostgreSQL's parser can't read. */
export function judgeWords(text: string, context: SqlContext): Hit[] {
  const { tokens, unclosed } = tokenise(text, context.dialect);
  const judge = new Judge(tokens, text, context);
  const hits = judge.judge();
  return unclosed && tokens.length > 0
    ? [...hits, { operation: 'unreadable_sql', at: text.length, end: text.length }]
    : hits;
}

class Judge {
  readonly #tokens: readonly Token[];
  readonly #text: string;
  readonly #context: SqlContext;
  readonly #temporary: Set<string>;
  readonly #hits: Hit[] = [];
  #looked_tokens = 0;
  #assigned: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(tokens: readonly Token[], text: string, context: SqlContext) {
    this.#tokens = tokens;
    this.#text = text;
    this.#context = context;
    this.#temporary = context.temporary ?? new Set();
  }

  judge(): Hit[] {
    let statement: Token[] = [];
    for (const token of this.#tokens) {
      if (token.kind === 'client') this.#client(token);
      if (token.kind === 'client' || (token.kind === 'mark' && token.text === ';')) {
        this.#statement(statement);
        statement = [];
      } else statement.push(token);
    }
    this.#statement(statement);
    return this.#hits;
  }

  #client(token: Token): void {
    this.#hits.push(...judgeClient(token));
    const text = assignedByClient(token);
    if (text !== undefined) this.#within(text, token, false);
  }

  #hit(operation: SqlOperation, token: Token | undefined, last: Token | undefined): void {
    this.#hits.push({ operation, at: token?.at ?? 0, end: last?.end ?? token?.end ?? 0 });
  }

  #statement(tokens: readonly Token[]): void {
    const [first] = tokens;
    if (first === undefined) return;
    const last = tokens.at(-1);
    const lead = first.kind === 'word' ? first.text : '';
    if (lead === 'GRANT') {
      if (isWord(tokens[1], 'ALL')) this.#hit('grant_all', first, last);
      return;
    }
    if (lead === 'REVOKE') return;
    // Without ANALYZE the plan is shown, and nothing is executed.
    if (
      /^(?:EXPLAIN|DESCRIBE|DESC)$/.test(lead) &&
      !tokens.slice(0, 8).some((token) => isWord(token, 'ANALYZE'))
    )
      return;
    if (lead === 'SYSTEM' && this.#context.dialect === 'mysql') {
      this.#shell(this.#text.slice(first.end, last?.end).trim(), first, last);
      return;
    }
    // `:name` stands for what `\set` assigned to it, here or elsewhere.
    if (first.text === ':' && first.kind === 'mark') {
      const isGiven = this.#tokens.some((token) => assignedByClient(token) !== undefined);
      if (!isGiven) this.#hit('dynamic_sql', first, last);
    }
    if (lead === 'SHUTDOWN') this.#hit('server_shutdown', first, last);
    if (lead === 'RENAME') this.#hit('schema_change', first, last);
    for (const [index, token] of tokens.entries())
      if (token.kind === 'word' && !this.#isEnough(token)) this.#word(tokens, index);
  }

  /** So much was found, or read, that nothing more will change the answer. */
  #isEnough(token: Token): boolean {
    if (this.#looked_tokens > LOOKED_TOKENS_MAX && this.#hits.length < HITS_MAX) {
      this.#hit('check_exhausted', token, token);
      return true;
    }
    return this.#hits.length >= HITS_MAX;
  }

  #reach(tokens: readonly Token[], index: number): readonly Token[] {
    const rest = tokens.slice(index, index + REACH_TOKENS);
    this.#looked_tokens += rest.length;
    return rest;
  }

  #word(tokens: readonly Token[], index: number): void {
    switch (tokens[index]?.text) {
      case 'DROP':
        this.#drop(tokens, index);
        break;
      case 'TRUNCATE':
        this.#truncate(tokens, index);
        break;
      case 'DELETE':
        this.#delete(tokens, index);
        break;
      case 'UPDATE':
        this.#update(tokens, index);
        break;
      case 'ALTER':
        this.#alter(tokens, index);
        break;
      case 'CREATE':
        this.#create(tokens, index);
        break;
      case 'EXEC':
      case 'EXECUTE':
      case 'PREPARE':
        this.#execute(tokens, index);
        break;
      case 'XP_CMDSHELL':
      case 'PROGRAM':
        this.#program(tokens, index);
        break;
      case 'DO':
        this.#block(tokens, index);
        break;
    }
  }

  #drop(tokens: readonly Token[], index: number): void {
    const [what, verb] = [tokens[index + 1], tokens[index]];
    if (what?.kind !== 'word' || isWord(tokens[0], 'ALTER') || isWord(tokens[index - 1], 'GRANT')) return;
    const isTemporary = what.text === 'TEMPORARY' || what.text === 'TEMP';
    const operation = Object.hasOwn(DROPPED, what.text) ? DROPPED[what.text] : undefined;
    const end = this.#extent(tokens, index);
    if (operation !== undefined) {
      const names = namesAfter(end, 2);
      const lost = names.filter((name) => !this.#isTemporary(name));
      for (const name of names) this.#temporary.delete(name);
      if (operation === 'drop_table' && names.length > 0 && lost.length === 0) return;
      this.#hit(operation, verb, end.at(-1));
    } else if (!isTemporary && REMADE.test(what.text) && this.#starts(tokens, index)) {
      const cascades =
        /^(?:TYPE|DOMAIN|EXTENSION)$/.test(what.text) && end.some((token) => isWord(token, 'CASCADE'));
      this.#hit(cascades ? 'drop_type' : 'schema_change', verb, end.at(-1));
    }
  }

  #truncate(tokens: readonly Token[], index: number): void {
    const next = tokens[index + 1];
    if (next === undefined || next.kind === 'mark' || next.kind === 'number') return;
    if (!isWord(next, 'TABLE') && !this.#starts(tokens, index)) return;
    const end = this.#extent(tokens, index);
    const names = namesAfter(end, isWord(next, 'TABLE') ? 2 : 1);
    if (names.length > 0 && names.every((name) => this.#isTemporary(name))) return;
    this.#hit('truncate_table', tokens[index], end.at(-1));
  }

  #delete(tokens: readonly Token[], index: number): void {
    const next = tokens[index + 1];
    if (next === undefined || this.#isClause(tokens, index)) return;
    const isPlain = isWord(next, 'FROM');
    if (!isPlain && !(this.#starts(tokens, index) && (next.kind === 'name' || isTableWord(next)))) return;
    this.#unscoped('unscoped_delete', tokens, index, isPlain ? 2 : 1);
  }

  #update(tokens: readonly Token[], index: number): void {
    const next = tokens[index + 1];
    if (next === undefined || this.#isClause(tokens, index) || isWord(next, 'SET')) return;
    if (next.kind !== 'name' && next.kind !== 'word') return;
    const end = this.#extent(tokens, index);
    const depth = depths(end);
    if (!end.some((token, at) => isWord(token, 'SET') && depth[at] === 0)) return;
    this.#unscoped('unscoped_update', tokens, index, 1);
  }

  #unscoped(operation: SqlOperation, tokens: readonly Token[], index: number, skipped: number): void {
    const end = this.#extent(tokens, index);
    const condition = conditionOf(end);
    const [name] = namesAfter(end, skipped);
    if (condition !== undefined && !isAlwaysTrue(condition, name)) return;
    if (name !== undefined && this.#isTemporary(name)) return;
    this.#hit(operation, tokens[index], end.at(-1));
  }

  #alter(tokens: readonly Token[], index: number): void {
    if (!this.#starts(tokens, index)) return;
    const [verb, what] = [tokens[index], tokens[index + 1]];
    if (what?.kind !== 'word' || what.text === 'SESSION') return;
    const last = tokens.at(-1);
    if (what.text === 'SYSTEM' || what.text === 'SERVER') {
      this.#hit('server_setting', verb, last);
      return;
    }
    const rest = this.#reach(tokens, index);
    const table = namesAfter(rest, 2)[0];
    if (table !== undefined && this.#isTemporary(table)) return;
    const depth = depths(rest);
    let operation: SqlOperation = 'schema_change';
    for (let at = 2; at < rest.length; at += 1) {
      const next = rest[at + 1];
      if (!isWord(rest[at], 'DROP') || depth[at] !== 0 || next === undefined) continue;
      // `ALTER COLUMN x DROP NOT NULL`, and what can be recreated.
      if (isWord(next, 'PARTITION')) operation = 'drop_partition';
      else if (isWord(next, 'COLUMN') || next.kind === 'name') operation = 'drop_column';
      else if (next.kind === 'word' && !NO_COLUMN.test(next.text)) operation = 'drop_column';
    }
    this.#hit(operation, verb, last);
  }

  #create(tokens: readonly Token[], index: number): void {
    if (!this.#starts(tokens, index)) return;
    const words = tokens
      .slice(index + 1, index + 6)
      .map((token) => (token.kind === 'word' ? token.text : ''));
    const isTemporary = /^(?:OR REPLACE )?(?:GLOBAL |LOCAL )?TEMP(?:ORARY)?\b/.test(words.join(' '));
    const rest = this.#reach(tokens, index);
    const at = rest.findIndex((token) => isWord(token, 'TABLE'));
    const [name] = at === -1 ? [] : namesAfter(rest.slice(at), 1);
    if (name !== undefined && (isTemporary || name.startsWith('#'))) {
      if (isTemporary) this.#temporary.add(name);
      return;
    }
    if (isTemporary) return;
    this.#hit('schema_change', tokens[index], tokens.at(-1));
    for (const body of rest) if (body.kind === 'string' && this.#hits.length < HITS_MAX) this.#body(body);
  }

  /** `DO $$ … $$`, `CREATE FUNCTION … AS $$ … $$`. */
  #block(tokens: readonly Token[], index: number): void {
    if (index !== 0) return;
    for (const token of tokens.slice(0, REACH_TOKENS)) if (token.kind === 'string') this.#body(token);
  }

  #body(token: Token): void {
    this.#within(token.text, token, true);
  }

  /** Text that would itself be run; findings in it are located at the text. */
  #within(text: string, token: Token, procedural: boolean): void {
    const { dialect, depth = 0 } = this.#context;
    if (depth >= DEPTH_MAX) {
      this.#hit('dynamic_sql', token, token);
      return;
    }
    const inner = judgeWords(text, { dialect, procedural, depth: depth + 1, temporary: this.#temporary });
    for (const hit of inner) this.#hits.push({ ...hit, at: token.at, end: token.end } as Hit);
  }

  #execute(tokens: readonly Token[], index: number): void {
    const { dialect, procedural } = this.#context;
    const [verb, next] = [tokens[index], tokens[index + 1]];
    if (verb === undefined || next === undefined || isWord(tokens[index - 1], 'GRANT')) return;
    if (isWord(next, 'FUNCTION') || isWord(next, 'PROCEDURE') || isWord(next, 'ON')) return;
    const rest = this.#extent(tokens, index).slice(1);
    const isPrepare = verb.text === 'PREPARE';
    if (isPrepare && !rest.some((token) => isWord(token, 'FROM'))) return;
    const source = isPrepare ? rest.slice(rest.findIndex((token) => isWord(token, 'FROM')) + 1) : rest;
    const { texts, names, computed } = assembled(source);
    for (const text of texts) this.#within(text, verb, true);
    if (texts.length > 0) return;
    this.#assigned ??= assignments(this.#tokens);
    const given = names.flatMap((name) => this.#assigned?.get(name) ?? []);
    for (const text of given) this.#within(text, verb, true);
    // `EXEC a_procedure` and `EXECUTE a_prepared_statement` run what is already known to the database.
    const isText = procedural === true && dialect !== 'mssql' ? true : computed || isWord(next, 'IMMEDIATE');
    if (given.length === 0 && isText) this.#hit('dynamic_sql', verb, rest.at(-1));
  }

  #program(tokens: readonly Token[], index: number): void {
    const command = tokens.slice(index + 1, index + 4).find(({ kind }) => kind === 'string');
    const isCopy = isWord(tokens[0], 'COPY') || isWord(tokens[index], 'XP_CMDSHELL');
    if (command === undefined || !isCopy) return;
    this.#hit('server_program', tokens[index], command);
    this.#shell(command.text, tokens[index], command);
  }

  #shell(shell: string, token: Token | undefined, last: Token | undefined): void {
    this.#hits.push({ operation: 'shell', shell, at: token?.at ?? 0, end: last?.end ?? 0 });
  }

  #isTemporary(name: string): boolean {
    return (
      this.#temporary.has(name) ||
      name.startsWith('#') ||
      name.startsWith('PG_TEMP.') ||
      name.startsWith('TEMP.')
    );
  }

  #starts(tokens: readonly Token[], index: number): boolean {
    const before = tokens[index - 1];
    if (before === undefined || (before.kind === 'mark' && /[():/]/.test(before.text))) return true;
    return before.kind === 'word' && OPENERS.has(before.text);
  }

  #isClause(tokens: readonly Token[], index: number): boolean {
    const before = tokens[index - 1];
    return before?.kind === 'word' && NO_STATEMENT.has(before.text);
  }

  /** From a verb to the end of its statement. */
  #extent(tokens: readonly Token[], index: number): readonly Token[] {
    const rest = this.#reach(tokens, index);
    const depth = depths(rest);
    const end = rest.findIndex((token, at) => {
      if (at === 0) return false;
      const level = depth[at] ?? 0;
      if (level < 0 || (level === 0 && token.kind === 'mark' && token.text === ')')) return true;
      if (level !== 0 || token.kind !== 'word') return false;
      if (token.text === 'END' || token.text === 'ELSE') return true;
      return NEXT_STATEMENT.test(token.text) && !this.#isClause(rest, at) && isStatement(rest, at);
    });
    return end === -1 ? rest : rest.slice(0, end);
  }
}

const NO_COLUMN =
  /^(?:CONSTRAINT|INDEX|KEY|PRIMARY|FOREIGN|CHECK|DEFAULT|NOT|IDENTITY|EXPRESSION|UNIQUE|TRIGGER|VALUE|ATTRIBUTE|PERIOD|SYSTEM|TABLE)$/;

function isTableWord(token: Token): boolean {
  return token.kind === 'word' && !/^(?:CASCADE|SET|ON|AS|WHEN|THEN|END|RESTRICT|NO)$/.test(token.text);
}

function isStatement(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at + 1];
  switch (tokens[at]?.text) {
    case 'DELETE':
      return isWord(next, 'FROM');
    case 'DROP':
      return next?.kind === 'word' && (Object.hasOwn(DROPPED, next.text) || REMADE.test(next.text));
    case 'INSERT':
      return isWord(next, 'INTO');
    case 'TRUNCATE':
      return isWord(next, 'TABLE');
    case 'UPDATE':
      return next !== undefined && next.kind !== 'mark' && !isWord(next, 'SET');
    default:
      return true;
  }
}
