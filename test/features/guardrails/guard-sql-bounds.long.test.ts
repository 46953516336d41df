import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assessMongo } from '../../../src/features/guardrails/mongo.ts';
import { assessRedis } from '../../../src/features/guardrails/redis.ts';
import { assessSql, type Dialect } from '../../../src/features/guardrails/sql/assess-sql.ts';
import { tokenise } from '../../../src/features/guardrails/sql/sql-tokens.ts';

const DIALECTS: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'mssql', 'unknown'];

const word = fc.constantFrom(
  ...'SELECT DELETE FROM WHERE UPDATE SET DROP TABLE TRUNCATE ALTER CREATE TEMP EXECUTE DO BEGIN END CASE WHEN AND OR NOT'.split(
    ' ',
  ),
  ...[
    "'",
    '"',
    '`',
    '[',
    ']',
    '(',
    ')',
    ';',
    '--',
    '/*',
    '*/',
    '/*!',
    '$$',
    '$a$',
    '\\',
    '\\!',
    '=',
    '1',
    'x',
    'é',
    '😀',
    ' ',
    '\n',
    ',',
    '.',
    '#',
  ],
);
const text = fc
  .array(fc.oneof(word, fc.string({ maxLength: 5 })), { maxLength: 60 })
  .map((parts) => parts.join(' '));

test('any text is judged in every dialect, and every finding says where', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom(...DIALECTS), async (sql, dialect) => {
      const lines = sql.split('\n').length;
      for (const { line = 0, matched } of await assessSql(sql, dialect)) {
        assert.ok(line >= 1 && line <= lines);
        assert.ok(matched.length <= 125 && matched.isWellFormed());
      }
    }),
    { numRuns: 3000 },
  );
});

test('tokens lie one behind the other in the text', () => {
  fc.assert(
    fc.property(text, fc.constantFrom(...DIALECTS), (sql, dialect) => {
      let end = 0;
      for (const token of tokenise(sql, dialect).tokens) {
        assert.ok(token.at >= end && token.end > token.at && token.end <= sql.length);
        end = token.end;
      }
    }),
    { numRuns: 3000 },
  );
});

/** A statement that destroys is found whatever stands around it, in words that PostgreSQL reads as the same. */
test('[GUARD-7] the same statement in other clothes', async () => {
  const blank = fc.constantFrom(' ', '\n', '\t', ' /* x */ ', ' -- y\n', '  ');
  const around = fc.constantFrom(
    ['', ''],
    ['SELECT 1; ', ''],
    ['', '; SELECT 2'],
    ["SELECT 'a;b'; ", ';'],
    ['BEGIN; ', '; COMMIT'],
  );
  const cases = fc.constantFrom(
    (each: string) => each,
    (each: string) => each.toLowerCase(),
    (each: string) => each.toUpperCase(),
  );
  const statement = fc.constantFrom(
    ['drop_table', 'Drop Table users'],
    ['truncate_table', 'Truncate users'],
    ['unscoped_delete', 'Delete From users'],
    ['unscoped_delete', 'Delete From users Where 1=1'],
    ['unscoped_update', 'Update users Set a=1'],
    ['drop_schema', 'Drop Schema public Cascade'],
    ['drop_column', 'Alter Table users Drop Column a'],
  );
  await fc.assert(
    fc.asyncProperty(
      statement,
      blank,
      around,
      cases,
      fc.constantFrom(...DIALECTS),
      async (each, gap, [before = '', after = ''], spell, dialect) => {
        const [operation, sql = ''] = each;
        const dressed = before + spell(sql).replaceAll(' ', gap) + after;
        const found = await assessSql(dressed, dialect);
        assert.ok(
          found.some((finding) => finding.operation === operation),
          `${dialect}: ${dressed}`,
        );
      },
    ),
    { numRuns: 1000 },
  );
});

test('no text takes long, however it is made', async () => {
  const pieces = [
    'DELETE FROM t ',
    'DROP TABLE a,',
    'CREATE (',
    'EXECUTE x ',
    "EXECUTE 'a' || ",
    'CASE WHEN ',
    '((((',
    '/*/*/*',
    '$a$ $b$ ',
    "'",
    '"a',
    'a.',
    'x = ',
    'DELETE FROM t WHERE (((1=1 OR ',
    'SELECT (SELECT ',
    '1+',
    'NOT ',
    'é;',
    '\\! ls\n',
    'UPDATE t SET a = (',
    'WITH a AS (',
    'DO $$ BEGIN ',
  ];
  for (const dialect of ['postgres', 'mysql', 'mssql', 'unknown'] as const)
    for (const piece of pieces) {
      const started = performance.now();
      await assessSql(piece.repeat(Math.ceil(60_000 / piece.length)), dialect);
      const spent_ms = performance.now() - started;
      assert.ok(spent_ms < 3000, `${dialect} ${piece}: ${spent_ms} ms`);
    }
  const huge = await assessSql('x'.repeat(5_000_000), 'postgres');
  assert.deepEqual(
    huge.map(({ operation }) => operation),
    ['check_exhausted'],
  );
});

test('the parser is good for the next statement after one that was too much for it', async () => {
  await assessSql(`SELECT ${'1+'.repeat(20_000)}1`, 'postgres');
  await assessSql(`SELECT ${'(SELECT '.repeat(5000)}1${')'.repeat(5000)}`, 'postgres');
  const found = await assessSql(`DROP TABLE users; SELECT ${'1+'.repeat(20_000)}1`, 'postgres');
  assert.deepEqual(
    found.map(({ operation }) => operation),
    ['drop_table'],
  );
  assert.deepEqual(await assessSql("SELECT 'DROP TABLE users'", 'postgres'), []);
});

test('redis and mongo texts of any kind', () => {
  const part = fc.constantFrom(
    'db',
    '.',
    'drop',
    '(',
    ')',
    '{',
    '}',
    "'",
    '"',
    '`',
    '/',
    '/*',
    '\\',
    'FLUSHALL',
    '\n',
    ' ',
    'EVAL',
  );
  const any = fc
    .array(fc.oneof(part, fc.string({ maxLength: 4 })), { maxLength: 50 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(any, (given) => {
      assert.ok(assessRedis(given).length <= 50);
      assert.ok(assessMongo(given).length <= 50);
    }),
    { numRuns: 2000 },
  );
  for (const piece of ['db.', '/*', '"\\', '`', "redis.call('", 'EVAL "redis.call(']) {
    const long = piece.repeat(200_000 / piece.length);
    const started = performance.now();
    assessMongo(long);
    assessRedis(long);
    assert.ok(performance.now() - started < 2000, piece);
  }
});
