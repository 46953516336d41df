import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Connection } from '../../../src/runtime/coordinator.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';

export async function perform(connection: Connection, name: string, input: JsonObject): Promise<JsonObject> {
  const operation = operationsByName.get(name);
  if (operation === undefined) throw new Error(`there is no ${name}`);
  return await connection.perform(operation, input);
}
