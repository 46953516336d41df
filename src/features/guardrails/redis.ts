import { maskSecrets } from '../../command-analysis/secrets.ts';
import type { Finding } from '../trust/index.ts';

const LINES_MAX = 10_000;
const FINDINGS_MAX = 50;
const MATCHED_CHARS_MAX = 120;

/** A command, or its first two words, and what it does. */
const DANGERS: Readonly<Record<string, readonly [operation: string, reason: string]>> = {
  FLUSHALL: ['redis_flush', 'Every key of every database goes.'],
  FLUSHDB: ['redis_flush', 'Every key of the database goes.'],
  SWAPDB: ['redis_flush', 'Two databases change places under everybody.'],
  SHUTDOWN: ['server_shutdown', 'The server stops for everybody.'],
  REPLICAOF: ['server_setting', 'The server throws its data away and follows another.'],
  SLAVEOF: ['server_setting', 'The server throws its data away and follows another.'],
  'CONFIG SET': [
    'server_setting',
    'The server behaves differently for everybody; it can be made to write any file.',
  ],
  'CONFIG REWRITE': ['server_setting', 'The server keeps its changed settings.'],
  'CLUSTER RESET': ['redis_flush', 'The node forgets the cluster and its data.'],
  'CLUSTER FLUSHSLOTS': ['server_setting', 'The node serves nothing any more.'],
  'ACL SETUSER': ['server_setting', 'Somebody gets or loses rights.'],
  'ACL DELUSER': ['server_setting', 'Somebody is locked out.'],
  'FUNCTION FLUSH': ['redis_flush', 'All stored functions go.'],
  'MODULE LOAD': ['server_program', 'The server loads a program.'],
};
const SCRIPTS = new Set(['EVAL', 'EVALSHA', 'EVAL_RO', 'FCALL']);
/** `redis.call('flushall')` in a script. */
const SCRIPT_CALL = /redis\s*\.\s*p?call\s*\(\s*(['"])(\w{1,40})\1(?:\s*,\s*(['"])(\w{1,40})\3)?/g;

/** Commands as redis-cli takes them: one per line, or the words of its arguments. */
export function assessRedis(text: string | readonly string[]): Finding[] {
  const commands = typeof text === 'string' ? text.split(/\r?\n/, LINES_MAX).map(wordsOf) : [[...text]];
  const found: Finding[] = [];
  for (const [index, words] of commands.entries())
    for (const [first, second] of callsIn(words)) {
      const danger = dangerOf(first, second);
      if (danger === undefined || found.length >= FINDINGS_MAX) continue;
      const [operation, reason] = danger;
      found.push({
        category: operation === 'redis_flush' ? 'database_destruction' : 'infrastructure',
        operation,
        pattern: `redis-${`${first} ${second}`.trim().toLowerCase().split(' ')[0]}`,
        matched: maskSecrets(words.join(' ')).slice(0, MATCHED_CHARS_MAX).toWellFormed(),
        reason,
        line: index + 1,
      });
    }
  return found;
}

function dangerOf(first: string, second: string): readonly [string, string] | undefined {
  for (const name of [first, `${first} ${second}`].map((words) => words.toUpperCase()))
    if (Object.hasOwn(DANGERS, name)) return DANGERS[name];
  return undefined;
}

/** The command itself, and the commands in its script. */
function callsIn(words: readonly string[]): [string, string][] {
  const [first = '', second = ''] = words;
  const calls: [string, string][] = [[first, second]];
  // redis-cli repeats a command with a number before it.
  if (/^\d+$/.test(first)) calls.push([second, words[2] ?? '']);
  if (SCRIPTS.has(first.toUpperCase()))
    for (const match of second.matchAll(SCRIPT_CALL)) calls.push([match[2] ?? '', match[4] ?? '']);
  return calls;
}

function wordsOf(line: string): string[] {
  if (/^\s*(?:#|$)/.test(line)) return [];
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"?|'((?:[^'\\]|\\')*)'?|[^\s"']+/g)].map(
    (match) => match[1] ?? match[2] ?? match[0],
  );
}
