import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessSql, type Dialect } from '../../../src/features/guardrails/sql/assess-sql.ts';

/** Operations that the text would carry out, in the order in which they are found; `-`: none. */
async function operationsIn(text: string, dialect: Dialect): Promise<string> {
  const found = await assessSql(text, dialect);
  return [...new Set(found.map(({ operation }) => operation))].sort().join(' ') || '-';
}

type Row = readonly [sql: string, operations: string];

function table(title: string, dialect: Dialect, rows: readonly Row[]): void {
  test(`[GUARD-6] ${title}`, async () => {
    const wrong: string[] = [];
    for (const [sql, expected] of rows) {
      const found = await operationsIn(sql, dialect);
      if (found !== expected) wrong.push(`${sql}\n    expected ${expected}, found ${found}`);
    }
    assert.deepEqual(wrong, []);
  });
}

table('SQL that destroys is told from its syntax tree', 'postgres', [
  ['DROP DATABASE shop', 'drop_database'],
  ['drop database if exists "Shop" with (force)', 'drop_database'],
  ['DROP SCHEMA public CASCADE', 'drop_schema'],
  ['DROP TABLE users', 'drop_table'],
  ['drop table if exists a.b, c cascade', 'drop_table'],
  ['DROP FOREIGN TABLE remote', 'drop_table'],
  ['DrOp/**/TaBlE users', 'drop_table'],
  ['DROP -- a comment\n TABLE users', 'drop_table'],
  ['/* DROP nothing */ DROP TABLE users', 'drop_table'],
  ['SELECT 1; DROP TABLE users', 'drop_table'],
  [';;; DROP TABLE users;;', 'drop_table'],
  ['BEGIN; DROP TABLE users; COMMIT', 'drop_table'],
  ['DROP TABLE "Robert\'); --"', 'drop_table'],
  ['DROP TYPE mood CASCADE', 'drop_type'],
  ['DROP EXTENSION postgis CASCADE', 'drop_type'],
  ['DROP DOMAIN d CASCADE', 'drop_type'],
  ['DROP ROLE alice', 'drop_role'],
  ['DROP USER alice, bob', 'drop_role'],
  ['DROP OWNED BY alice', 'drop_owned'],
  ['DROP TABLESPACE fast', 'drop_tablespace'],
  ['TRUNCATE users', 'truncate_table'],
  ['TRUNCATE TABLE ONLY a, b RESTART IDENTITY CASCADE', 'truncate_table'],
  ['DELETE FROM users', 'unscoped_delete'],
  ['DELETE FROM users;', 'unscoped_delete'],
  ['delete from ONLY shop.users as u', 'unscoped_delete'],
  ['DELETE FROM users WHERE true', 'unscoped_delete'],
  ['DELETE FROM users WHERE 1=1', 'unscoped_delete'],
  ['DELETE FROM users WHERE (1 = 1)', 'unscoped_delete'],
  ["DELETE FROM users WHERE 'a' = 'a'", 'unscoped_delete'],
  ['DELETE FROM users WHERE id = id', 'unscoped_delete'],
  ['DELETE FROM users WHERE users.id = users.id', 'unscoped_delete'],
  ['DELETE FROM users WHERE NOT false', 'unscoped_delete'],
  ['DELETE FROM users WHERE NOT (1 = 2)', 'unscoped_delete'],
  ['DELETE FROM users WHERE name = $1 OR true', 'unscoped_delete'],
  ['DELETE FROM users WHERE (name = $1) OR (1=1)', 'unscoped_delete'],
  ['DELETE FROM users WHERE 1=1 AND 2=2', 'unscoped_delete'],
  ['DELETE FROM users WHERE 1=1 AND id = 7', '-'],
  ['DELETE FROM users WHERE id IS NOT NULL', 'unscoped_delete'],
  ['DELETE FROM users WHERE id > 0', 'unscoped_delete'],
  ["DELETE FROM users WHERE name LIKE '%'", 'unscoped_delete'],
  ['DELETE FROM users WHERE EXISTS (SELECT 1)', 'unscoped_delete'],
  ['DELETE FROM users WHERE 2 > 1', 'unscoped_delete'],
  ['DELETE FROM users WHERE id IN (SELECT id FROM users)', 'unscoped_delete'],
  ['DELETE FROM shop.users u WHERE u.id IN (SELECT users.id FROM shop.users)', 'unscoped_delete'],
  ['DELETE FROM users WHERE 1 <> 2 RETURNING *', 'unscoped_delete'],
  ['DELETE FROM users USING accounts', 'unscoped_delete'],
  ['DELETE FROM "where"', 'unscoped_delete'],
  ['DELETE FROM users -- WHERE id = 1', 'unscoped_delete'],
  ['DELETE FROM users /* WHERE id = 1 */', 'unscoped_delete'],
  ['UPDATE users SET admin = true', 'unscoped_update'],
  ['UPDATE users SET admin = true WHERE 1=1', 'unscoped_update'],
  ['UPDATE users u SET name = o.name FROM others o', 'unscoped_update'],
  ["UPDATE users SET note = 'WHERE id = 1'", 'unscoped_update'],
  ['UPDATE users SET a = (SELECT b FROM t WHERE t.id = 1)', 'unscoped_update'],
  ['UPDATE users SET a = CASE WHEN b THEN 1 ELSE 2 END', 'unscoped_update'],
  ['WITH gone AS (DELETE FROM users RETURNING *) SELECT count(*) FROM gone', 'unscoped_delete'],
  ['WITH a AS (SELECT 1), b AS (UPDATE t SET x = 1 RETURNING 1) SELECT * FROM a, b', 'unscoped_update'],
  ['WITH a AS (WITH b AS (DELETE FROM t RETURNING 1) SELECT * FROM b) SELECT * FROM a', 'unscoped_delete'],
  ['INSERT INTO log WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d', 'unscoped_delete'],
  ['MERGE INTO t USING s ON true WHEN MATCHED THEN DELETE', 'unscoped_delete'],
  ['DELETE FROM pg_class WHERE relname = $1', 'catalog_change'],
  ['UPDATE pg_catalog.pg_attribute SET attisdropped = true WHERE attrelid = 1', 'catalog_change'],
  ['ALTER TABLE users DROP COLUMN email', 'drop_column'],
  ['ALTER TABLE users ADD COLUMN a int, DROP email CASCADE', 'drop_column'],
  ['GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC', 'grant_all'],
  ['GRANT ALL PRIVILEGES ON DATABASE shop TO alice', 'grant_all'],
  ['ALTER SYSTEM SET fsync = off', 'server_setting'],
  ["COPY users TO PROGRAM 'gzip > /tmp/x'", 'server_program'],
  ["COPY users FROM PROGRAM 'rm -rf /data'", 'recursive_delete server_program'],
  ['EXPLAIN ANALYZE DELETE FROM users', 'unscoped_delete'],
  ['EXPLAIN (ANALYZE, BUFFERS) DELETE FROM users', 'unscoped_delete'],
  ['PREPARE p AS DELETE FROM users', 'unscoped_delete'],
  ['CREATE RULE r AS ON INSERT TO t DO ALSO DELETE FROM u', 'schema_change unscoped_delete'],
  ["SELECT dblink_exec('host=x', 'DROP TABLE users')", 'drop_table'],
  ["SELECT query_to_xml('DELETE FROM users', true, true, '')", 'unscoped_delete'],
  ['SELECT 1 \\g\nDROP TABLE users', 'drop_table'],
]);

table('what only looks like it passes', 'postgres', [
  ['SELECT 1', '-'],
  ["SELECT 'DROP TABLE users'", '-'],
  ["SELECT 'it''s'; -- DROP TABLE users", '-'],
  ['SELECT $$DROP TABLE users; DELETE FROM t$$', '-'],
  ['SELECT $x$ TRUNCATE $x$', '-'],
  ["SELECT E'\\'; DROP TABLE users; --'", '-'],
  ['SELECT "drop table users" FROM "delete"', '-'],
  ["INSERT INTO notes VALUES ('never run DELETE FROM users')", '-'],
  ["UPDATE notes SET body = 'DROP TABLE x' WHERE id = 3", '-'],
  ['DELETE FROM users WHERE id = 3', '-'],
  ['DELETE FROM users WHERE id = $1 AND true', '-'],
  ["DELETE FROM sessions WHERE expires_at < now() - interval '1 day'", '-'],
  ['DELETE FROM users WHERE deleted_at IS NOT NULL', '-'],
  ['DELETE FROM users WHERE id IN (SELECT user_id FROM gone)', '-'],
  ['DELETE FROM users u USING gone g WHERE g.id = u.id', '-'],
  ['DELETE FROM users WHERE 1=2', '-'],
  ['DELETE FROM users WHERE CURRENT OF c', '-'],
  ['UPDATE users SET a = 1 WHERE id = 3', '-'],
  ['UPDATE users SET a = CASE WHEN b THEN 1 END WHERE id = 3', '-'],
  ["UPDATE users SET a = 'where' WHERE name LIKE 'a%'", '-'],
  ['INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1', '-'],
  ['SELECT * FROM t FOR UPDATE', '-'],
  ['EXPLAIN DELETE FROM users', '-'],
  ['EXPLAIN (VERBOSE) UPDATE t SET a = 1', '-'],
  ['CREATE TEMP TABLE x (a int)', '-'],
  ['CREATE TEMPORARY TABLE x AS SELECT 1; DELETE FROM x; TRUNCATE x; DROP TABLE x', '-'],
  ['CREATE TEMP TABLE x (a int); DROP TABLE IF EXISTS x', '-'],
  ['CREATE TEMP TABLE x (a int); ALTER TABLE x DROP COLUMN a', '-'],
  ['CREATE TEMP VIEW v AS SELECT 1', '-'],
  ['SELECT 1 INTO TEMP x; DROP TABLE x', '-'],
  ['DROP TABLE pg_temp.x', '-'],
  ['TRUNCATE pg_temp.x', '-'],
  ['BEGIN; ROLLBACK', '-'],
  ['VACUUM ANALYZE users', '-'],
  ["SET search_path = 'drop'", '-'],
  ["COMMENT ON TABLE users IS 'DROP TABLE users'", '-'],
  ['COPY users TO STDOUT', '-'],
  ['SELECT truncate FROM numbers', '-'],
  ['SELECT trunc(1.5)', '-'],
  ['REVOKE ALL ON users FROM PUBLIC', '-'],
  ["SELECT * FROM users WHERE name = 'DELETE FROM x'", '-'],
  ['-- DROP TABLE users', '-'],
  ['/* DROP /* nested */ TABLE users */ SELECT 1', '-'],
  ['\\d users', '-'],
  ['\\copy users to users.csv csv', '-'],
  ['\\timing on\nSELECT 1;', '-'],
  ['', '-'],
]);

table('a temporary table is one only until it is gone', 'postgres', [
  ['CREATE TEMP TABLE users (a int); DROP TABLE users; DROP TABLE users', 'drop_table'],
  ['CREATE TEMP TABLE x (a int); DROP TABLE x, users', 'drop_table'],
  ['CREATE TABLE x (a int); DROP TABLE x', 'drop_table schema_change'],
  ['DROP TABLE x; CREATE TEMP TABLE x (a int)', 'drop_table'],
]);

table('a changed schema is a migration', 'postgres', [
  ['CREATE TABLE t (a int)', 'schema_change'],
  ['CREATE TABLE IF NOT EXISTS t (a int)', 'schema_change'],
  ['CREATE UNLOGGED TABLE t (a int)', 'schema_change'],
  ['CREATE TABLE t AS SELECT 1', 'schema_change'],
  ['SELECT 1 AS a INTO t', 'schema_change'],
  ['CREATE INDEX CONCURRENTLY i ON t (a)', 'schema_change'],
  ['CREATE OR REPLACE VIEW v AS SELECT 1', 'schema_change'],
  ["CREATE TYPE mood AS ENUM ('ok')", 'schema_change'],
  ["ALTER TYPE mood ADD VALUE 'sad'", 'schema_change'],
  ['ALTER TABLE t ADD COLUMN a int', 'schema_change'],
  ['ALTER TABLE t ALTER COLUMN a DROP NOT NULL', 'schema_change'],
  ['ALTER TABLE t DROP CONSTRAINT c', 'schema_change'],
  ['ALTER TABLE t RENAME TO u', 'schema_change'],
  ['DROP INDEX i', 'schema_change'],
  ['DROP VIEW v CASCADE', 'schema_change'],
  ['DROP FUNCTION f(int)', 'schema_change'],
  ['CREATE TRIGGER x AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION f()', 'schema_change'],
  ['CREATE POLICY p ON t USING (true)', 'schema_change'],
  ['GRANT SELECT ON t TO bob', 'schema_change'],
  ['CREATE ROLE bob LOGIN', 'schema_change'],
  ['CREATE SCHEMA s CREATE TABLE t (a int)', 'schema_change'],
  ['CREATE TABLE t (a int REFERENCES u ON DELETE CASCADE ON UPDATE SET NULL)', 'schema_change'],
]);

const FUNCTION = (body: string) =>
  `CREATE FUNCTION f(x text) RETURNS SETOF my.rec LANGUAGE plpgsql AS $f$ ${body} $f$`;

table('code in strings is read too', 'postgres', [
  ['DO $$ BEGIN DROP TABLE users; END $$', 'drop_table'],
  ["DO 'BEGIN DELETE FROM users; END'", 'unscoped_delete'],
  ['DO LANGUAGE plpgsql $$ BEGIN IF true THEN TRUNCATE users; END IF; END $$', 'truncate_table'],
  ["DO $$ BEGIN EXECUTE 'DROP TABLE users'; END $$", 'drop_table'],
  ["DO $$ BEGIN EXECUTE 'DROP TABLE ' || quote_ident(x); END $$", 'drop_table'],
  ["DO $$ BEGIN EXECUTE 'DR' || 'OP TABLE users'; END $$", 'drop_table'],
  ["DO $$ BEGIN EXECUTE format('TRUNCATE %I.%I', a, b); END $$", 'truncate_table'],
  ["DO $$ DECLARE q text := 'DELETE FROM users'; BEGIN EXECUTE q; END $$", 'unscoped_delete'],
  ["DO $$ DECLARE q text; BEGIN q := 'DROP TABLE a'; EXECUTE q; END $$", 'drop_table'],
  ['DO $$ BEGIN EXECUTE q; END $$', 'dynamic_sql'],
  ["DO $$ BEGIN FOR r IN EXECUTE 'DELETE FROM t' LOOP NULL; END LOOP; END $$", 'unscoped_delete'],
  ["DO $$ BEGIN EXECUTE 'DELETE FROM t WHERE id = $1' USING 3; END $$", '-'],
  ["DO $$ BEGIN IF NOT EXISTS (SELECT 1) THEN CREATE TYPE m AS ENUM ('a'); END IF; END $$", 'schema_change'],
  ["DO $$ BEGIN RAISE NOTICE 'DROP TABLE users'; END $$", '-'],
  [FUNCTION('BEGIN DELETE FROM t; END'), 'schema_change unscoped_delete'],
  [FUNCTION('DECLARE r my.rec; BEGIN DELETE FROM t WHERE id = 1; RETURN NEXT r; END'), 'schema_change'],
  [
    'CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC DELETE FROM t; SELECT 1; END',
    'schema_change unscoped_delete',
  ],
  ["CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'TRUNCATE t'", 'schema_change truncate_table'],
  ['DO $a$ BEGIN EXECUTE $b$ DO $c$ BEGIN DROP TABLE t; END $c$ $b$; END $a$', 'drop_table'],
]);

table('psql’s own commands', 'postgres', [
  ['\\! rm -rf /data', 'recursive_delete'],
  ['SELECT 1;\n\\! rm -rf /data', 'recursive_delete'],
  ["\\copy users to program 'rm -rf /data'", 'recursive_delete'],
  ['SELECT 1 \\g | rm -rf /data', 'recursive_delete'],
  ["SELECT 'DROP TABLE ' || t FROM x \\gexec", 'dynamic_sql'],
  ["SELECT '\\! rm -rf /'", '-'],
  ["\\set q 'DROP TABLE users'\n:q;", 'drop_table'],
  [':q;', 'dynamic_sql'],
  ['\\set id 3\nDELETE FROM users WHERE id = :id;', '-'],
  ['SELECT * FROM users WHERE id = :id', '-'],
]);

table('MySQL by its words', 'mysql', [
  ['DROP TABLE `users`', 'drop_table'],
  ['drop table if exists `a`.`b`, c', 'drop_table'],
  ['/*!50000 DROP TABLE users */', 'drop_table'],
  ['/*M!100100 DROP TABLE users */', 'drop_table'],
  ['DELETE FROM `users` LIMIT 10', 'unscoped_delete'],
  ['DELETE FROM `users` WHERE 1', 'unscoped_delete'],
  ['DELETE FROM `users` WHERE `id` = 3 LIMIT 1', '-'],
  ['DELETE u FROM users u JOIN gone g ON g.id = u.id', 'unscoped_delete'],
  ['DELETE u FROM users u JOIN gone g ON g.id = u.id WHERE g.at < 3', '-'],
  ['DELETE LOW_PRIORITY FROM users', 'unscoped_delete'],
  ['UPDATE `users` SET a = 1', 'unscoped_update'],
  ['UPDATE users u, others o SET u.a = o.a', 'unscoped_update'],
  ['UPDATE users SET a = 1 ORDER BY id LIMIT 3', 'unscoped_update'],
  ['TRUNCATE `users`', 'truncate_table'],
  ['SELECT TRUNCATE(1.234, 2)', '-'],
  ["SELECT 'it\\'s; DROP TABLE users; -- '", '-'],
  ['SELECT "a; DROP TABLE users"', '-'],
  ["SELECT '\\\\'; DROP TABLE users", 'drop_table'],
  ['SELECT 1 # DROP TABLE users', '-'],
  ['SELECT 1 -- DROP TABLE users', '-'],
  ['SELECT 5--1\n; DROP TABLE users', 'drop_table'],
  ['# x\nDROP DATABASE shop', 'drop_database'],
  ['INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1', '-'],
  ['ALTER TABLE users DROP email', 'drop_column'],
  ['ALTER TABLE users DROP INDEX i, ADD a int', 'schema_change'],
  ['ALTER TABLE t DROP PARTITION p0', 'drop_partition'],
  ['CREATE TEMPORARY TABLE x (a int); DROP TEMPORARY TABLE x', '-'],
  ['CREATE TABLE t (a int, FOREIGN KEY (a) REFERENCES u(a) ON DELETE CASCADE)', 'schema_change'],
  ["SET @q = 'DROP TABLE users'; PREPARE s FROM @q; EXECUTE s", 'drop_table'],
  ["PREPARE s FROM 'DROP TABLE users'", 'drop_table'],
  ["EXECUTE IMMEDIATE 'DELETE FROM users'", 'unscoped_delete'],
  [
    'DELIMITER //\nCREATE PROCEDURE p() BEGIN DELETE FROM t; END //\nDELIMITER ;',
    'schema_change unscoped_delete',
  ],
  ['\\! rm -rf /data', 'recursive_delete'],
  ['system rm -rf /data', 'recursive_delete'],
  ['GRANT ALL PRIVILEGES ON *.* TO root', 'grant_all'],
  ['GRANT SELECT, DELETE, DROP ON shop.* TO bob', '-'],
  ['RENAME TABLE a TO b', 'schema_change'],
  ['EXPLAIN DELETE FROM users', '-'],
  ['SELECT `delete`, `drop` FROM `table`', '-'],
]);

table('SQLite and T-SQL by their words', 'sqlite', [
  ['DROP TABLE [users]', 'drop_table'],
  ['DELETE FROM "users"', 'unscoped_delete'],
  ["DELETE FROM users WHERE name = 'a'", '-'],
  ['.shell rm -rf /data', 'recursive_delete'],
  ['.system rm -rf /data', 'recursive_delete'],
  ['.tables', '-'],
  ['.mode csv\n.once out.csv\nSELECT * FROM users;', '-'],
  ['CREATE TRIGGER x AFTER DELETE ON t BEGIN DELETE FROM u WHERE id = old.id; END', 'schema_change'],
  ['CREATE TRIGGER x AFTER UPDATE OF a ON t BEGIN DELETE FROM u; END', 'schema_change unscoped_delete'],
  ['INSERT OR REPLACE INTO t VALUES (1)', '-'],
  ['UPDATE OR IGNORE t SET a = 1', 'unscoped_update'],
  ['REPLACE INTO t VALUES (1)', '-'],
  ['PRAGMA table_info(users)', '-'],
  ['VACUUM', '-'],
]);

table('T-SQL needs no semicolons', 'mssql', [
  ['SELECT 1 DROP TABLE users', 'drop_table'],
  ['SELECT 1 DELETE FROM users SELECT 2', 'unscoped_delete'],
  ['DELETE FROM a DELETE FROM b WHERE id = 1', 'unscoped_delete'],
  ['DELETE FROM a WHERE id = 1 DELETE FROM b WHERE id = 2', '-'],
  ['DELETE TOP (10) FROM users WHERE x = 1', '-'],
  ['DELETE [users]', 'unscoped_delete'],
  ['USE shop\nGO\nDROP TABLE [dbo].[users]\nGO', 'drop_table'],
  ['DROP TABLE #x', '-'],
  ['CREATE TABLE #x (a int) DELETE FROM #x', '-'],
  ["EXEC('DROP TABLE users')", 'drop_table'],
  ["EXEC sp_executesql N'TRUNCATE TABLE users'", 'truncate_table'],
  ["DECLARE @q nvarchar(99) = N'DROP TABLE users' EXEC(@q)", 'drop_table'],
  ['EXEC(@q)', 'dynamic_sql'],
  ['EXEC dbo.nightly @day = 1', '-'],
  ["EXEC xp_cmdshell 'rm -rf /data'", 'recursive_delete server_program'],
  [
    'MERGE t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 1 WHEN NOT MATCHED BY SOURCE THEN DELETE;',
    '-',
  ],
  ['IF EXISTS (SELECT 1) DROP TABLE users', 'drop_table'],
  ['SHUTDOWN WITH NOWAIT', 'server_shutdown'],
]);

table('SQL of nobody knows which database', 'unknown', [
  ['DROP TABLE users', 'drop_table'],
  ['DROP TABLE `users`', 'drop_table'],
  ['/*!50000 DROP TABLE users */', 'drop_table'],
  ['DELETE FROM `users` WHERE `id` = 3', '-'],
  ['DELETE FROM users WHERE', '-'],
  ['SELECT 1; DELETE FROM t LIMIT 3; SELECT nonsense here and there', 'unscoped_delete'],
  ["INSERT INTO t VALUES ('DROP TABLE users'), (`x`)", '-'],
  ["SELECT 'never closed", 'unreadable_sql'],
  ['SELECT /* never closed', 'unreadable_sql'],
]);

test('a finding says which statement, on which line, with secrets masked', async () => {
  const text = "SELECT 1;\n\n-- é\nUPDATE users\n  SET password = 'Tr0ub4dor&3xyz';\n";
  const [finding] = await assessSql(text, 'postgres');
  assert.equal(finding?.line, 4);
  assert.equal(finding?.matched, "users SET password = '***'");
  assert.equal(finding?.pattern, 'sql-unscoped-update');
});
