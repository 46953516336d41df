import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPortConfig } from '../../../src/features/port-blocks/port-config.ts';

function read(env: Record<string, string>) {
  const {
    success,
    field,
    message,
    folder: _,
    ...config
  } = readPortConfig({ COX_STATE_DIR: '/s', ...env }) as Record<string, unknown>;
  return success === false ? { field, message: String(message) } : { config };
}

test('[PORT-4] the defaults, and what the environment says instead', () => {
  const standard = { base: 10_000, range: 100, ttl_minutes: 120, sessions_max: 20 };
  assert.deepEqual(read({}).config, standard);
  assert.deepEqual(read({ PORT_ALLOC_BASE: '', PORT_ALLOC_RANGE: '' }).config, standard);
  const all = {
    PORT_ALLOC_BASE: '20000',
    PORT_ALLOC_RANGE: '50',
    PORT_ALLOC_TTL_MINUTES: '0.5',
    PORT_ALLOC_MAX_SESSIONS: '3',
  };
  assert.deepEqual(read(all).config, { base: 20_000, range: 50, ttl_minutes: 0.5, sessions_max: 3 });
  const edge = { PORT_ALLOC_BASE: '1024', PORT_ALLOC_RANGE: '4', PORT_ALLOC_MAX_SESSIONS: '16128' };
  assert.equal(read(edge).config?.sessions_max, 16_128);
});

const wrong: [variable: string, value: string, minimum: string][] = [
  ['PORT_ALLOC_BASE', '1023', '1024'],
  ['PORT_ALLOC_BASE', '-1', '1024'],
  ['PORT_ALLOC_BASE', 'ten', '1024'],
  ['PORT_ALLOC_BASE', '1e4', '1024'],
  ['PORT_ALLOC_BASE', '10000.5', '1024'],
  ['PORT_ALLOC_BASE', '65536', '1024'],
  ['PORT_ALLOC_RANGE', '3', '4'],
  ['PORT_ALLOC_RANGE', ' ', '4'],
  ['PORT_ALLOC_TTL_MINUTES', '0', '0.02'],
  ['PORT_ALLOC_TTL_MINUTES', 'Infinity', '0.02'],
  ['PORT_ALLOC_MAX_SESSIONS', '0', '1'],
];

for (const [variable, value, minimum] of wrong)
  test(`[PORT-4] ${variable}=${JSON.stringify(value)} is refused with its name, its value and the minimum`, () => {
    const { field, message = '' } = read({ [variable]: value });
    assert.equal(field, variable);
    assert.ok(message.includes(JSON.stringify(value)), message);
    assert.ok(message.includes(`at least ${minimum} `), message);
  });

test('[PORT-4] blocks beyond the last port are refused, the last one that fits is not', () => {
  const { field, message } = read({ PORT_ALLOC_BASE: '63537' });
  assert.equal(field, 'PORT_ALLOC_MAX_SESSIONS');
  assert.match(message ?? '', /base 63537 \+ range 100 × 20 sessions is 65537/);
  assert.equal(read({ PORT_ALLOC_BASE: '63536' }).config?.base, 63_536);
});

test('[PORT-5] the allocations are kept in one place for all of the user’s processes', () => {
  const folder = (env: Record<string, string>) => (readPortConfig(env) as { folder?: string }).folder;
  assert.equal(folder({ COX_STATE_DIR: '/s', XDG_STATE_HOME: '/x' }), '/s');
  // The rest is of systems with XDG's folders.
  if (process.platform === 'win32') return;
  assert.equal(folder({ XDG_STATE_HOME: '/x', HOME: '/h' }), join('/x', 'coxswain'));
  assert.equal(folder({ XDG_STATE_HOME: 'x', HOME: '/h' }), join('/h', '.local', 'state', 'coxswain'));
  assert.equal(folder({}), join(homedir(), '.local', 'state', 'coxswain'));
  const relative = readPortConfig({ COX_STATE_DIR: 'here' }) as { field?: string };
  assert.equal(relative.field, 'COX_STATE_DIR', 'each folder would have allocations of its own');
});
