import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { invalid } from '../../runtime/answer.ts';

/** `either`: what can't be read as JSON is meant as text. */
export type Kind = 'text' | 'number' | 'boolean' | 'list' | 'json' | 'either';

export interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly required: boolean;
  readonly description: string;
}

/** The fields of an operation's input, as a command line or a query can give them. */
export function fieldsOf(schema: JsonObject): Field[] {
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  const required = new Set(schema.required as string[] | undefined);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    kind: kindOf(property),
    // With a default it may be left out, whatever the list says.
    required: required.has(name) && property.default === undefined,
    description: describe(property),
  }));
}

function kindOf(property: JsonObject): Kind {
  switch (property.type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return (property.items as JsonObject | undefined)?.type === 'string' ? 'list' : 'json';
    default: {
      const forms = Array.isArray(property.anyOf) ? (property.anyOf as JsonObject[]) : [];
      return forms.some(({ type }) => type === 'string') ? 'either' : 'json';
    }
  }
}

function describe(property: JsonObject): string {
  const description = typeof property.description === 'string' ? property.description : '';
  const standard = property.default;
  const shown =
    standard === undefined || (Array.isArray(standard) && standard.length === 0) ? '' : String(standard);
  return shown === '' ? description : `${description} (default ${shown})`.trim();
}

/** Undefined: it had to be JSON, and is none. */
export function readJson(kind: 'json' | 'either', text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return kind === 'either' ? text : undefined;
  }
}

/** What is no number stays text, for the schema to refuse by its name. */
export function readNumber(text: string): number | string {
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? text : number;
}

/** How long, as a flag says it; in milliseconds. */
export function readSeconds(text: string, field: string, least: number, most: number): number | Refusal {
  const seconds = Number(readNumber(text));
  return seconds >= least && seconds <= most ? seconds * 1000 : invalid(field, `${least} to ${most} seconds`);
}
