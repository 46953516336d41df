import type { Connection } from '../../src/coordinator.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operationsByName } from '../../src/operations/index.ts';

export async function perform(connection: Connection, name: string, input: JsonObject): Promise<JsonObject> {
  const operation = operationsByName.get(name);
  if (operation === undefined) throw new Error(`there is no ${name}`);
  return await connection.perform(operation, input);
}
