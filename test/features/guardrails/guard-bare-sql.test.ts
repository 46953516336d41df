import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessOperation } from '../../../src/features/guardrails/assess-operation.ts';
import { isBareSql } from '../../../src/features/guardrails/sql/bare-sql.ts';

const found = async (operation_text: string) =>
  (await assessOperation({ operation_text, file_paths: [] }, undefined)).map(({ operation }) => operation);

const DESTRUCTIVE = [
  'DROP TABLE users CASCADE',
  'drop database shop;',
  'DELETE FROM users',
  'delete from orders;',
  'TRUNCATE users',
  'TRUNCATE TABLE users, orders CASCADE;',
  'truncate "Users" restart identity',
  'UPDATE users SET admin = true',
  '-- clean up\nDROP SCHEMA app CASCADE;',
  '/* now */ BEGIN; DELETE FROM users; COMMIT;',
  'SELECT 1; DROP TABLE users',
  'WITH old AS (SELECT id FROM users) DELETE FROM users',
  'alter table users drop column email',
];

test('[GUARD-1] SQL that stands by itself is read as SQL', async () => {
  for (const text of DESTRUCTIVE) assert.notDeepEqual(await found(text), [], text);
});

const HARMLESS = [
  'SELECT * FROM users',
  'DELETE FROM sessions WHERE id = 7',
  "UPDATE users SET name = 'x' WHERE id = 1",
  'INSERT INTO t VALUES (1)',
  "SELECT 'DROP TABLE users'",
];

test('[GUARD-1] SQL that takes nothing away is safe, also if its text contains such words', async () => {
  for (const text of HARMLESS) assert.deepEqual(await found(text), [], text);
});

test('[GUARD-1] commands of a shell are no SQL', () => {
  for (const text of [
    'truncate -s 0 build.log',
    'git commit -m "drop table users"',
    'npm run update',
    'update-alternatives --config editor',
    'select x in a b; do echo $x; done',
    'create-react-app shop',
    'copy a.txt b.txt',
    'begin',
    'echo begin; ls',
  ])
    assert.equal(isBareSql(text), text === 'begin', text);
});
