import type { JsonObject } from '../kernel/json.ts';
import { open } from '../runtime/open.ts';
import type { AnyOperation } from '../runtime/operation.ts';
import { operations, operationsByName } from '../runtime/operation-list.ts';
import { type Client, createClient } from './client.ts';
import type { LocalTarget } from './client-options.ts';
import { unknownOperation } from './refusals.ts';

/** A client that opens the store in this process. */
export async function connectLocal({ options, identity }: LocalTarget): Promise<Client> {
  const coxswain = await open(options);
  const connection = coxswain.connect(identity, 'operator', { door: 'library' });
  const names = operations.map(({ name }) => name);
  return createClient(names, {
    actor: connection.actor,
    async call(name, input = {}, options = {}) {
      const operation = operationsByName.get(name);
      if (operation === undefined) return unknownOperation(name);
      const { operation_id } = options;
      const asked = operation_id === undefined ? input : await named(operation, input, operation_id);
      return await connection.perform(operation, asked, options);
    },
    close: () => coxswain.close(),
  });
}

/** An operation that takes no operation id can be repeated without one. */
async function named(operation: AnyOperation, input: JsonObject, operation_id: string): Promise<JsonObject> {
  if (input.operation_id !== undefined) return input;
  const { properties } = (await operation.input()).json;
  return Object.hasOwn(properties as object, 'operation_id') ? { ...input, operation_id } : input;
}
