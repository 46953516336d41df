import type { Hit, SqlOperation } from './hazards.ts';
import { type Token, tokenise } from './sql-tokens.ts';
import { conditionOf, isAlwaysTrue } from './sql-where.ts';
import { judgeWords } from './sql-words.ts';

/** A node of PostgreSQL's syntax tree, as the parser returns it: plain JSON. */
type Tree = Readonly<Record<string, unknown>>;

export interface ParsedStatement {
  readonly stmt?: Tree;
  readonly stmt_location?: number;
  readonly stmt_len?: number;
}

const DROPS: Readonly<Record<string, SqlOperation>> = {
  OBJECT_TABLE: 'drop_table',
  OBJECT_FOREIGN_TABLE: 'drop_table',
  OBJECT_SCHEMA: 'drop_schema',
};
const CASCADING = /^OBJECT_(?:TYPE|DOMAIN|EXTENSION)$/;

/** Statements that are classified by their name alone. */
const PLAIN: Readonly<Record<string, SqlOperation>> = {
  DropdbStmt: 'drop_database',
  DropRoleStmt: 'drop_role',
  DropOwnedStmt: 'drop_owned',
  DropTableSpaceStmt: 'drop_tablespace',
  AlterSystemStmt: 'server_setting',
};

const SCHEMA_CHANGE =
  /^(?:CreateSchemaStmt|CreateSeqStmt|AlterSeqStmt|IndexStmt|ViewStmt|CreateFunctionStmt|AlterFunctionStmt|CreateTrigStmt|CreateEnumStmt|AlterEnumStmt|CompositeTypeStmt|CreateRangeStmt|CreateDomainStmt|AlterDomainStmt|DefineStmt|RenameStmt|AlterOwnerStmt|AlterObjectSchemaStmt|CreatePolicyStmt|AlterPolicyStmt|RuleStmt|CreateExtensionStmt|AlterExtensionStmt|CreatedbStmt|AlterDatabaseStmt|CreateRoleStmt|AlterRoleStmt|GrantRoleStmt|CreateCastStmt|CreatePublicationStmt|AlterPublicationStmt|CreateSubscriptionStmt|AlterSubscriptionStmt|DropSubscriptionStmt|CreateFdwStmt|CreateForeignServerStmt|CreateForeignTableStmt|CreateStatsStmt|AlterTypeStmt|CreateEventTrigStmt|AlterTableMoveAllStmt)$/;

/** Functions that run the text they are given. */
const RUNS_TEXT = /^(?:dblink|dblink_exec|dblink_send_query|query_to_xml|query_to_xmlschema|cursor_to_xml)$/;
const NODES_MAX = 200_000;

/** What statements read by PostgreSQL's own parser would do, at any depth. */
export function judgeTree(statements: readonly ParsedStatement[], text: string): Hit[] {
  const judge = new TreeJudge(text);
  for (const statement of statements) judge.statement(statement);
  return judge.hits;
}

class TreeJudge {
  readonly hits: Hit[] = [];
  readonly #text: string;
  readonly #place: (bytes: number) => number;
  readonly #temporary = new Set<string>();
  #tokens: readonly Token[] | undefined;
  #starts: ReadonlyMap<number, number> | undefined;
  #from = 0;
  #end = 0;

  constructor(text: string) {
    this.#text = text;
    this.#place = placesOf(text);
  }

  statement({ stmt, stmt_location = 0, stmt_len = 0 }: ParsedStatement): void {
    this.#from = this.#place(stmt_location);
    this.#end = stmt_len === 0 ? this.#text.length : this.#place(stmt_location + stmt_len);
    // The parser's statement begins right after the last semicolon, including blank lines and comments.
    this.#from = this.#firstToken(this.#from);
    // Not recursive: a tree can be as deep as the text is long.
    const left: unknown[] = [stmt];
    for (let nodes = 0; left.length > 0; nodes += 1) {
      if (nodes > NODES_MAX) {
        this.#hit('check_exhausted');
        return;
      }
      const node = left.pop();
      if (node === null || typeof node !== 'object') continue;
      const parts = Array.isArray(node) ? node.entries() : Object.entries(node as Tree);
      for (const [name, inner] of parts)
        if (typeof name !== 'string' || this.#node(name, inner)) left.push(inner);
    }
  }

  #hit(operation: SqlOperation, location?: unknown): void {
    const at = typeof location === 'number' ? this.#place(location) : this.#from;
    this.hits.push({ operation, at, end: this.#end });
  }

  /** False: what is below need not be visited. */
  #node(name: string, inner: unknown): boolean {
    if (inner === null || typeof inner !== 'object') return false;
    const node = inner as Tree;
    const plain = Object.hasOwn(PLAIN, name) ? PLAIN[name] : undefined;
    if (plain !== undefined) this.#hit(plain);
    else if (SCHEMA_CHANGE.test(name) && !this.#isTemporary(node.relation ?? node.view))
      this.#hit('schema_change');
    switch (name) {
      // Without ANALYZE the plan is shown, and nothing is executed.
      case 'ExplainStmt':
        return JSON.stringify(node.options ?? []).includes('"analyze"');
      case 'DropStmt':
        this.#drop(node);
        break;
      case 'TruncateStmt':
        if (!listOf(node.relations).every((relation) => this.#isTemporary(relation.RangeVar)))
          this.#hit('truncate_table');
        break;
      case 'DeleteStmt':
      case 'UpdateStmt':
        this.#rows(name === 'DeleteStmt' ? 'unscoped_delete' : 'unscoped_update', node);
        break;
      case 'MergeStmt':
        this.#merge(node);
        break;
      case 'CreateStmt':
      case 'CreateTableAsStmt':
      case 'intoClause':
        this.#create(name, node);
        break;
      case 'AlterTableStmt':
        this.#alter(node);
        break;
      case 'GrantStmt':
        if (node.is_grant === true) this.#hit(node.privileges === undefined ? 'grant_all' : 'schema_change');
        break;
      case 'CopyStmt':
        if (node.is_program === true) this.#program(node);
        break;
      case 'DoStmt':
        this.#bodies(node.args);
        break;
      case 'CreateFunctionStmt':
        this.#bodies(node.options);
        break;
      case 'FuncCall':
        this.#call(node);
        break;
    }
    return true;
  }

  #drop(node: Tree): void {
    const kind = String(node.removeType);
    const operation = Object.hasOwn(DROPS, kind) ? DROPS[kind] : undefined;
    const names = listOf(node.objects).map((object) => {
      const parts = (object.List as Tree | undefined)?.items ?? [object];
      return listOf(parts).map((part) => String((part.String as Tree | undefined)?.sval ?? ''));
    });
    const lost = names.filter((parts) => !this.#isTemporaryName(parts));
    for (const parts of names) this.#temporary.delete(parts.join('.'));
    if (kind === 'OBJECT_TABLE' && lost.length === 0) return;
    if (operation !== undefined) {
      this.#hit(operation);
      return;
    }
    const cascades = node.behavior === 'DROP_CASCADE' && CASCADING.test(kind);
    this.#hit(cascades ? 'drop_type' : 'schema_change');
  }

  #rows(operation: SqlOperation, node: Tree): void {
    const relation = (node.relation ?? {}) as Tree;
    if (this.#isTemporary(relation)) return;
    if (relation.schemaname === 'pg_catalog' || /^pg_(?!temp)/.test(String(relation.relname))) {
      this.#hit('catalog_change', relation.location);
      return;
    }
    if (node.whereClause === undefined || this.#isScopeless(relation))
      this.#hit(operation, relation.location);
  }

  /** Does the statement that names its table there have a condition that holds for all rows? */
  #isScopeless({ location, relname }: Tree): boolean {
    const index = this.#tokenAt(this.#place(Number(location)));
    if (index === undefined) return false;
    const rest = (this.#tokens ?? []).slice(index, index + 5000);
    let depth = 0;
    const end = rest.findIndex(({ kind, text }) => {
      if (kind !== 'mark') return false;
      if (text === '(') depth += 1;
      if (text === ')') depth -= 1;
      return depth < 0 || (depth === 0 && text === ';');
    });
    const condition = conditionOf(end === -1 ? rest : rest.slice(0, end));
    return condition !== undefined && isAlwaysTrue(condition, String(relname));
  }

  #merge(node: Tree): void {
    const condition = (node.joinCondition ?? {}) as Tree;
    const isTrue = ((condition.A_Const as Tree | undefined)?.boolval as Tree | undefined)?.boolval === true;
    const deletes = listOf(node.mergeWhenClauses).some(
      (clause) => (clause.MergeWhenClause as Tree | undefined)?.commandType === 'CMD_DELETE',
    );
    if (isTrue && deletes) this.#hit('unscoped_delete');
  }

  #create(name: string, node: Tree): void {
    const into = name === 'CreateTableAsStmt' ? (node.into as Tree | undefined) : node;
    const relation = (into?.relation ?? into?.rel) as Tree | undefined;
    if (relation === undefined) return;
    if (relation.relpersistence === 't') this.#temporary.add(String(relation.relname));
    else this.#hit('schema_change');
  }

  #alter(node: Tree): void {
    if (this.#isTemporary(node.relation)) return;
    const kinds = listOf(node.cmds).map((command) =>
      String((command.AlterTableCmd as Tree | undefined)?.subtype),
    );
    this.#hit(kinds.includes('AT_DropColumn') ? 'drop_column' : 'schema_change');
  }

  #program(node: Tree): void {
    this.#hit('server_program');
    this.hits.push({ operation: 'shell', shell: String(node.filename), at: this.#from, end: this.#end });
  }

  /** Code in a string: a DO block, or a function in SQL or PL/pgSQL. */
  #bodies(options: unknown): void {
    for (const option of listOf(options)) {
      const { defname, arg } = (option.DefElem ?? {}) as Tree;
      if (defname !== 'as') continue;
      const list = (arg as Tree | undefined)?.List as Tree | undefined;
      const [body] = list === undefined ? [arg as Tree] : listOf(list.items);
      this.#within(String((body?.String as Tree | undefined)?.sval ?? ''), true);
    }
  }

  #call(node: Tree): void {
    const name = listOf(node.funcname).at(-1)?.String as Tree | undefined;
    if (!RUNS_TEXT.test(String(name?.sval))) return;
    for (const argument of listOf(node.args)) {
      const text = ((argument.A_Const as Tree | undefined)?.sval as Tree | undefined)?.sval;
      if (typeof text === 'string') this.#within(text, false);
    }
  }

  #within(text: string, procedural: boolean): void {
    const inner = judgeWords(text, {
      dialect: 'postgres',
      procedural,
      depth: 1,
      temporary: upper(this.#temporary),
    });
    for (const hit of inner) this.hits.push({ ...hit, at: this.#from, end: this.#end } as Hit);
  }

  #isTemporary(relation: unknown): boolean {
    const { relname, schemaname, relpersistence } = (relation ?? {}) as Tree;
    if (relpersistence === 't') return true;
    return (
      relname !== undefined &&
      this.#isTemporaryName([schemaname ?? '', relname].filter((part) => part !== '').map(String))
    );
  }

  #isTemporaryName(parts: readonly string[]): boolean {
    return parts[0] === 'pg_temp' || this.#temporary.has(parts.join('.'));
  }

  #firstToken(from: number): number {
    const tokens = this.#allTokens();
    let [low, high] = [0, tokens.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((tokens[middle]?.at ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return tokens[low]?.at ?? from;
  }

  #tokenAt(at: number): number | undefined {
    const tokens = this.#allTokens();
    this.#starts ??= new Map(tokens.map((token, index) => [token.at, index]));
    return this.#starts.get(at);
  }

  #allTokens(): readonly Token[] {
    this.#tokens ??= tokenise(this.#text, 'postgres').tokens;
    return this.#tokens;
  }
}

function upper(names: ReadonlySet<string>): Set<string> {
  return new Set([...names].map((name) => name.toUpperCase()));
}

function listOf(value: unknown): readonly Tree[] {
  return Array.isArray(value) ? (value as Tree[]) : [];
}

/** The parser counts bytes, we count UTF-16 units. */
function placesOf(text: string): (bytes: number) => number {
  const bytes = Buffer.from(text);
  if (bytes.length === text.length) return (at) => at;
  const places = new Uint32Array(bytes.length + 1);
  let place = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    places[at] = place;
    // The first byte of a character says how long it is; four bytes are two of our units.
    if (byte < 0x80 || byte >= 0xc0) place += byte >= 0xf0 ? 2 : 1;
  }
  places[bytes.length] = place;
  return (at) => places[Math.min(at, bytes.length)] ?? 0;
}
