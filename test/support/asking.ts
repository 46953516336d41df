import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Connection } from '../../src/runtime/coordinator.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';

const TRIES_MAX = 5;

export type Call = (operation: string, input?: JsonObject) => Promise<JsonObject>;

/**
 * One call by its name on the wire. Where the store did not answer in its time, as on a machine that is too busy, it is asked
 * again, and like any client under the same id: what was done after all is not done twice.
 */
export async function ask(connection: Connection, name: string, input: JsonObject = {}): Promise<JsonObject> {
  const operation = operationsByName.get(name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  const { json } = await operation.input();
  const isNamed = operation.mutates && 'operation_id' in (json.properties as JsonObject);
  const asked = isNamed ? { operation_id: randomUUID(), ...input } : input;
  for (let tries = 1; ; tries += 1) {
    const answer = await connection.perform(operation, asked);
    if (answer.error !== 'database_unavailable' || tries === TRIES_MAX) return answer;
  }
}
