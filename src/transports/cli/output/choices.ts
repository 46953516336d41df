import type { Command } from 'commander';
import type { JsonObject } from '../../../kernel/json.ts';

/**
 * The few words that a flag accepts, for the help and for completion. Only for display: the operation's
 * schema refuses wrong values, in the same words on every transport.
 */
export function declareChoices(command: Command, schema: JsonObject): void {
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  for (const option of command.options) {
    const property = properties[option.name().replaceAll('-', '_')];
    const words = property?.enum ?? (property?.items as JsonObject | undefined)?.enum;
    if (Array.isArray(words)) option.argChoices = words.map(String);
  }
}
