import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from '../../src/index.ts';
import type { Coxswain, OpenOptions } from '../../src/runtime/coxswain.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { ask, type Call } from '../support/asking.ts';
import { testTable } from '../support/dynamodb.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

/** A store of its own for one test: opened as often as wanted, gone afterwards. */
export interface Fixture {
  /** Undefined for the in-memory store, which no other process can reach. */
  readonly url: string | undefined;
  open(options?: OpenOptions): Promise<Coxswain>;
  drop(): Promise<void>;
}

/** What the suite needs to know of a store. A new store adds one of these and a test file of three lines. */
export interface Engine {
  readonly name: string;
  fresh(): Promise<Fixture>;
  /** Another way into a store that passes all of it by itself: the groups in which that way can matter. */
  readonly only?: readonly string[];
  /** Groups of cases that run side by side; fewer where the store keeps the machine busy, and not the waiting. */
  readonly at_once?: number;
}

export const memory: Engine = {
  name: 'memory',
  async fresh() {
    const coxswain = await open({ store: 'memory:' });
    const others: Coxswain[] = [];
    return {
      url: undefined,
      // The same one again, unless it is to be of another kind; then it is a store of its own.
      async open(options) {
        if (options === undefined) return coxswain;
        const other = await open({ ...options, store: 'memory:' });
        others.push(other);
        return other;
      },
      async drop() {
        for (const each of [coxswain, ...others]) await each.close();
      },
    };
  },
};

export const sqlite: Engine = {
  name: 'sqlite',
  async fresh() {
    const folder = await mkdtemp(join(tmpdir(), 'cox-conformance-'));
    return fixture(`sqlite:${join(folder, 'cox.db')}`, () => rm(folder, { recursive: true, force: true }));
  },
};

export const files: Engine = {
  name: 'files',
  async fresh() {
    const folder = await mkdtemp(join(tmpdir(), 'cox-conformance-'));
    return fixture(`files:${join(folder, '.ai-workspace')}`, () =>
      rm(folder, { recursive: true, force: true }),
    );
  },
};

const SITTER = fileURLToPath(new URL('sitter.ts', import.meta.url));

/** SQLite again, with every decision of the suite made by a neighbour that sits. */
export const followers: Engine = {
  name: 'sqlite behind a seat',
  only: [
    'locks',
    'areas',
    'queue',
    'line',
    'sessions',
    'profiles',
    'ledger',
    'races',
    'approvals',
    'claims',
    'board',
    'task files',
  ],
  async fresh() {
    const { url, drop } = await sqlite.fresh();
    if (url === undefined) throw new Error('no url');
    const sitter = spawn(process.execPath, [SITTER, url], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(sitter.stdout, 'data'); // "sits"
    const opened: Coxswain[] = [];
    return {
      url,
      async open(options) {
        const coxswain = await open({ ...options, store: url, sits: true });
        opened.push(coxswain);
        await until(async () => String((await coxswain.store.describe()).commits).startsWith('through'));
        return coxswain;
      },
      async drop() {
        for (const coxswain of opened) await coxswain.close();
        sitter.stdin.end();
        await once(sitter, 'exit');
        await drop();
      },
    };
  },
};

export const postgres: Engine = {
  name: 'postgres',
  async fresh() {
    const database = await testDatabase({ migrated: true });
    return fixture(database.url, () => database.drop());
  },
};

export const dynamodb: Engine = {
  name: 'dynamodb',
  at_once: 2,
  async fresh() {
    const table = await testTable();
    return fixture(table.url, () => table.drop());
  },
};

function fixture(url: string, remove: () => Promise<unknown>): Fixture {
  const opened: Coxswain[] = [];
  return {
    url,
    async open(options) {
      const coxswain = await open({ ...options, store: url });
      opened.push(coxswain);
      return coxswain;
    },
    async drop() {
      for (const coxswain of opened) await coxswain.close();
      await remove();
    },
  };
}

export type { Call };

/** One agent on an opened store, called by the wire names. */
export function agent(coxswain: Coxswain, agent_id: string, session_id = `session-${agent_id}`): Call {
  const connection = coxswain.connect({ agent_id, agent_type: 'test', session_id });
  return (name, input = {}) => {
    const operation = operationsByName.get(name);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    return connection.perform(operation, input);
  };
}

/** The same, for cases that are not about a store that does not answer. */
export function patientAgent(coxswain: Coxswain, agent_id: string, session_id = `session-${agent_id}`): Call {
  const connection = coxswain.connect({ agent_id, agent_type: 'test', session_id });
  return (name, input) => ask(connection, name, input);
}
