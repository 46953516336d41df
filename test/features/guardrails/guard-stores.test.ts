import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessMongo } from '../../../src/features/guardrails/mongo.ts';
import { assessRedis } from '../../../src/features/guardrails/redis.ts';

const names = (found: readonly { operation: string }[]) =>
  [...new Set(found.map(({ operation }) => operation))].sort().join(' ') || '-';

test('[GUARD-6] redis commands', () => {
  const rows: readonly (readonly [string | readonly string[], string])[] = [
    ['FLUSHALL', 'redis_flush'],
    ['flushall async', 'redis_flush'],
    ['"FLUSHDB"', 'redis_flush'],
    ['GET a\nflushdb', 'redis_flush'],
    [['-n', 'FLUSHALL'], '-'],
    [['FLUSHALL'], 'redis_flush'],
    ['3 FLUSHALL', 'redis_flush'],
    ['CONFIG SET dir /var/www', 'server_setting'],
    ['config  "set" dir /', 'server_setting'],
    ['CONFIG GET *', '-'],
    ['SHUTDOWN NOSAVE', 'server_shutdown'],
    ['REPLICAOF evil 6379', 'server_setting'],
    [`EVAL "redis.call('flushall')" 0`, 'redis_flush'],
    [`EVAL 'return redis.pcall("CONFIG", "SET", "dir", "/")' 0`, 'server_setting'],
    [`EVAL "return redis.call('get', KEYS[1])" 1 a`, '-'],
    ['SET note FLUSHALL', '-'],
    ['SET note "never FLUSHALL"', '-'],
    ['# FLUSHALL', '-'],
    ['DEL a b', '-'],
    ['KEYS *', '-'],
    ['', '-'],
  ];
  for (const [text, expected] of rows) assert.equal(names(assessRedis(text)), expected, String(text));
});

test('[GUARD-6] mongo scripts', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['db.dropDatabase()', 'drop_database'],
    ['db . dropDatabase ( )', 'drop_database'],
    ["db['dropDatabase']()", 'drop_database'],
    ['use shop; db.users.drop()', 'drop_collection'],
    ["db.getCollection('users').drop()", 'drop_collection'],
    ["db.getSiblingDB('shop').dropDatabase()", 'drop_database'],
    ['db.users.deleteMany({})', 'unscoped_delete'],
    ['db.users.deleteMany( { /* all */ } )', 'unscoped_delete'],
    ['db.users.remove({})', 'unscoped_delete'],
    ['db.users.remove()', 'unscoped_delete'],
    ['db.users.updateMany({}, {$set: {a: 1}})', 'unscoped_update'],
    ['db.runCommand({dropDatabase: 1})', 'drop_database'],
    ["db.runCommand({ 'drop': 'users' })", 'drop_collection'],
    ['db.adminCommand({ shutdown: 1 })', 'server_shutdown'],
    ['db.users.deleteMany({age: 3})', '-'],
    ['db.users.deleteOne({_id: 1})', '-'],
    ['db.users.find({})', '-'],
    ["print('db.dropDatabase()')", '-'],
    ['// db.dropDatabase()\ndb.users.find()', '-'],
    ['db.users.updateMany({a: 1}, {$set: {b: 1}})', '-'],
    ['db.notes.insertOne({text: "db.users.drop()"})', '-'],
    ['list.remove(item)', '-'],
  ];
  for (const [text, expected] of rows) assert.equal(names(assessMongo(text)), expected, text);
});
