// A store behind the injecting proxy, and what its log says in the end: the same table, seen without the proxy.

import { open } from '../../src/index.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import type { Coxswain, OpenOptions } from '../../src/runtime/coxswain.ts';
import { agent, type Call } from '../conformance/engine.ts';
import { type TestTable, tableUrl, testTable } from './dynamodb.ts';
import type { Fault } from './dynamodb-faults.ts';
import { type DynamoProxy, type HowOften, startProxy } from './dynamodb-proxy.ts';

export class Behind implements AsyncDisposable {
  readonly proxy: DynamoProxy;
  readonly table: TestTable;
  readonly #opened: Coxswain[] = [];

  private constructor(table: TestTable, proxy: DynamoProxy) {
    this.table = table;
    this.proxy = proxy;
  }

  static async start(): Promise<Behind> {
    const table = await testTable();
    return new Behind(table, await startProxy(table.endpoint));
  }

  /** Without presence, so that each call is what it costs and nothing else. */
  async open(options: OpenOptions = {}, endpoint = this.proxy.endpoint): Promise<Coxswain> {
    const store = tableUrl(this.table.table, endpoint);
    const coxswain = await open({ presence: 'off', env: {}, ...options, store });
    this.#opened.push(coxswain);
    return coxswain;
  }

  /** An agent that is past its first call: what a process asks once has been asked. */
  async agent(agent_id: string, options: OpenOptions = {}): Promise<Call> {
    const call = agent(await this.open(options), agent_id);
    await call('acquire_lock', { file_path: `warm/${agent_id}` });
    this.proxy.requests.length = 0;
    return call;
  }

  /** Of requests whose operation this is, or of all. */
  inject(fault: Fault, howOften: HowOften = {}, operation?: string): () => void {
    return this.proxy.inject(
      (asked) => (operation === undefined || asked === operation ? fault : undefined),
      howOften,
    );
  }

  asked(): string[] {
    return this.proxy.requests.map(({ operation }) => operation);
  }

  /** The whole log, by a look of its own straight at the server. */
  async log(): Promise<LogEntry[]> {
    const { store, project } = await this.open({}, this.table.endpoint);
    return (await store.read(project, 0, 1000)).entries;
  }

  /** The events of one type in it, in order. */
  async events(type: string): Promise<LogEntry['events'][number][]> {
    return (await this.log()).flatMap(({ events }) => events.filter((event) => event.type === type));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const coxswain of this.#opened) await coxswain.close();
    await this.proxy.close();
    await this.table.drop();
  }
}
