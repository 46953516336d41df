import type { Command } from 'commander';
import type { JsonObject } from '../../../kernel/json.ts';

/**
 * The few words that a flag may have, for the help and for completion. Only to be shown: what is wrong is said by the
 * operation's schema, in the same words at every door.
 */
export function declareChoices(command: Command, schema: JsonObject): void {
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  for (const option of command.options) {
    const property = properties[option.name().replaceAll('-', '_')];
    const words = property?.enum ?? (property?.items as JsonObject | undefined)?.enum;
    if (Array.isArray(words)) option.argChoices = words.map(String);
  }
}
