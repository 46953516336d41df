import { isKnown, textSeen, type Word } from '../../../command-analysis/shell/word.ts';
import { assessMongo } from '../mongo.ts';
import { type Check, type Hit, isRehearsal, type Run, readOptions, theme } from '../pattern.ts';
import { assessRedis } from '../redis.ts';
import type { Dialect } from '../sql/sql-tokens.ts';

const PATTERNS = {
  'database-drop': {
    category: 'database_destruction',
    operation: 'drop_database',
    reason: 'The database is deleted with everything in it.',
    instead: 'Make a new database under another name.',
  },
  'database-reset': {
    category: 'database_destruction',
    operation: 'reset_database',
    reason: 'All tables are dropped and made again, empty.',
    instead: 'Write a migration, or use a database of your own for tests.',
  },
  'database-restore': {
    category: 'database_destruction',
    operation: 'restore_database',
    reason: 'What is in the database is replaced by a backup.',
    instead: 'Restore into a new database.',
  },
} as const;

type Id = keyof typeof PATTERNS;

/** A database that ends with the program: it has nothing to lose. Without a name it is one too. */
function isInMemory(database: Word | undefined): boolean {
  if (database === undefined) return true;
  const { text } = database;
  return (
    isKnown(database) &&
    /^(?::memory:|file::memory:(?:\?.*)?|file:[^?]*\?(?:.*&)?mode=memory(?:&.*)?)$/.test(text)
  );
}

/** Nothing that opens a file, loads code or is a command for the client, but for how it prints. */
function staysInMemory(sql: string): boolean {
  return (
    !/\b(?:attach|vacuum|writefile|edit|load_extension|copy|export|import|install|load)\b/i.test(sql) &&
    !/^\s*\.(?!(?:mode|headers?|tables?|schema|timer|echo|width|nullvalue|separator|bail|explain|indexes)\b)/m.test(
      sql,
    )
  );
}

/** Clients that send the values of these options, and what is piped to them. */
function client(dialect: Dialect, takes: string, given: string, last = false): Check<Id> {
  return (run, hit) => {
    const options = readOptions(
      run.args,
      given
        .split(' ')
        .filter((name) => name.startsWith('--'))
        .join(' '),
      { takes: `${takes} ${given}` },
    );
    const values = options.values(...given.split(' '));
    // A file that the same command line has written.
    const files = options.values('-f', '--file', '-i', '-init');
    // `sqlite3 file "SQL"`
    const words = last ? [...values, ...options.operands.slice(1)] : values;
    const text = textSeen(run.command.input);
    const sent = [
      ...words.map(written),
      ...files.map(({ stream }) => textSeen(stream?.lines) ?? ''),
      ...(text === undefined ? [] : [text]),
    ];
    const isKnownAll = files.length === 0 && words.every(isKnown);
    if (last && isKnownAll && isInMemory(options.operands[0]) && sent.every(staysInMemory)) return;
    for (const each of sent) run.sql(each, dialect);
    // ClickHouse deletes rows by changing the table.
    if (values.some((word) => /\bALTER\s+TABLE\s+\S+\s+DELETE\b/i.test(word.text))) hit('database-drop');
    if (text !== undefined) return;
    // Programs that print SQL that deletes everything.
    if (
      run.command.from.some(({ args }) => args.some((word) => /^sql(?:flush|reset|clear)$/.test(word.text)))
    )
      hit('database-reset');
  };
}

/** An unknown value keeps its place in the statement. */
function written(word: Word): string {
  return word.unknown === undefined
    ? word.text
    : (word.source ?? '').replace(/\$\{?\w+\}?|\$\([^)]*\)/g, 'unknown_part');
}

const PSQL_TAKES =
  '-d -h -p -U -v -f -F -R -o -L -T -P --dbname --host --port --username --variable --set --file --output';
const MYSQL_TAKES = '-h -P -u -D -S --host --port --user --database --socket --delimiter';

function redis(run: Run, hit: Hit<Id>): void {
  const options = readOptions(run.args, '', {
    takes: '-h -p -a -u -n -s -r -i -x --user --pass --tls --eval',
  });
  const words = options.operands.map(({ text }) => text);
  if (words.length > 0) run.report(assessRedis(words));
  // All keys of a list, one after the other.
  if (/^(?:del|unlink)$/i.test(words[0] ?? '') && options.operands.some((word) => word.unknown !== undefined))
    hit('database-drop');
  const text = textSeen(run.command.input);
  if (text !== undefined) run.report(assessRedis(text));
}

function mongo(run: Run): void {
  const { values } = readOptions(run.args, '--eval', {
    takes: '--eval --host --port -u -p --username --password --authenticationDatabase -f --file',
  });
  for (const word of values('--eval')) run.report(assessMongo(written(word)));
  for (const { stream } of run.args) run.report(assessMongo(textSeen(stream?.lines) ?? ''));
  const text = textSeen(run.command.input);
  if (text !== undefined) run.report(assessMongo(text));
}

function restores(option: RegExp) {
  return (run: Run, hit: Hit<Id>): void => {
    if (run.texts.some((text) => option.test(text)) && !isRehearsal(run, '-l', '--list'))
      hit('database-restore');
  };
}

export const database = theme(PATTERNS, {
  'psql pgcli cockroach usql': client('postgres', PSQL_TAKES, '-c --command -e --execute'),
  'mysql mariadb mycli mysqlsh': client('mysql', MYSQL_TAKES, '-e --execute'),
  'sqlite3 sqlite litecli': client('sqlite', '-separator -cmd -init', '-cmd', true),
  'sqlcmd mssql-cli': client('mssql', '-S -U -P -d -i -o', '-Q -q'),
  duckdb: client('unknown', '', '-c -s', true),
  'clickhouse-client clickhouse': client(
    'unknown',
    '-h --host --port -u --user --password -d --database',
    '-q --query',
  ),
  bq: (run) => {
    if (/^(?:query)$/.test(run.texts[0] ?? '')) run.sql(run.texts.at(-1) ?? '', 'unknown');
  },
  cqlsh: client('unknown', '-u -p -k -f', '-e --execute'),
  snowsql: client('unknown', '-a -u -d -s -w -r -f', '-q --query'),
  'redis-cli valkey-cli keydb-cli': redis,
  heroku: (run, hit) => {
    if (run.texts[0] === 'pg:psql') client('postgres', '-a --app', '-c --command')(run, hit);
  },
  wrangler: (run, hit) => {
    if (run.texts[0] === 'd1' && run.texts[1] === 'execute') client('sqlite', '--env', '--command')(run, hit);
  },
  prisma: (run, hit) => {
    if (/^db execute/.test(run.texts.slice(0, 2).join(' ')))
      client('unknown', '--url --schema --file', '--never')(run, hit);
  },
  rails: (run, hit) => {
    const code = /^(?:runner|r|console|c)$/.test(run.texts[0] ?? '')
      ? [...run.texts.slice(1), textSeen(run.command.input) ?? ''].join('\n')
      : '';
    if (/\.(?:delete_all|destroy_all|truncate|drop_table|drop_database)\b/.test(code)) hit('database-drop');
  },
  hasura: ({ texts }, hit) => {
    if (texts[0] === 'metadata' && texts[1] === 'clear') hit('database-reset');
  },
  'mongosh mongo': mongo,
  'dropdb dropuser': (run, hit) => {
    if (run.args.length > 0) hit('database-drop');
  },
  'mysqladmin mariadb-admin': ({ texts }, hit) => {
    if (texts.some((text) => /^(?:drop|flush-\w+|shutdown)$/.test(text))) hit('database-drop');
  },
  pg_restore: restores(/^(?:-c|--clean|--create|-C)$/),
  mongorestore: restores(/^--drop$/),
  'pg_resetwal pg_dropcluster initdb': (_run, hit) => hit('database-reset'),
  'rethinkdb influx': ({ texts }, hit) => {
    if (texts.some((text) => /\bdelete\b|drop /i.test(text))) hit('database-drop');
  },
  supabase: ({ texts }, hit) => {
    if (texts[0] === 'db' && texts[1] === 'reset') hit('database-reset');
    if (/^projects?$/.test(texts[0] ?? '') && texts[1] === 'delete') hit('database-drop');
  },
  'pscale turso neonctl planetscale': ({ texts }, hit) => {
    const words = texts
      .filter((text) => !text.startsWith('-'))
      .slice(0, 3)
      .join(' ');
    if (/\b(?:delete|destroy|reset)\b/.test(words)) hit('database-drop');
  },
  'curl xh http https': (run, hit) => {
    // Search servers take commands by HTTP.
    const text = run.texts.join(' ');
    const deletes = /(?:-X\s*|--request[ =])DELETE\b/i.test(text) || /^DELETE$/i.test(run.texts[0] ?? '');
    const search = /:(?:9200|8983|6333|5984|8529|7700)\b|\/(?:_all|_search|solr|collections|indexes)\b/.test(
      text,
    );
    if ((deletes && search) || /\/_delete_by_query\b/.test(text)) hit('database-drop');
  },
});
