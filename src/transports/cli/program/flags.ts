import { type Command, Option } from 'commander';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import { invalid } from '../../../runtime/answer.ts';
import type { AnyOperation } from '../../../runtime/operation.ts';
import { type Field, type Kind, readJson, readNumber } from '../../shared/input-fields.ts';
import { refuseDepth } from '../../shared/raw-input.ts';

const PLACEHOLDERS: Record<Kind, string> = {
  text: ' <text>',
  number: ' <number>',
  boolean: '',
  list: ' <text...>',
  json: ' <json>',
  either: ' <text or json>',
};

/**
 * Declares a command's arguments and flags. All are optional for commander: the operation's own schema
 * reports what is missing or wrong, so that every transport refuses in the same words.
 */
export function declareFields(command: Command, operation: AnyOperation, fields: readonly Field[]): void {
  const positional = operation.positional ?? [];
  const usage: string[] = [];
  for (const name of positional) {
    const field = fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`${operation.name} has no field ${name}`);
    const word = field.kind === 'list' || operation.several !== undefined ? `${name}...` : name;
    command.argument(`[${word}]`, field.description);
    usage.push(field.required || operation.several !== undefined ? `<${word}>` : `[${word}]`);
  }
  for (const field of fields) {
    if (positional.includes(field.name) || field.name === operation.several) continue;
    const flag = flagName(field.name);
    const option = new Option(`--${flag}${PLACEHOLDERS[field.kind]}`, field.description);
    command.addOption(option);
    if (field.kind === 'boolean') command.addOption(new Option(`--no-${flag}`, 'The opposite.'));
    if (field.required)
      usage.push(field.kind === 'boolean' ? `--[no-]${flag}` : `--${flag}${PLACEHOLDERS[field.kind]}`);
  }
  command.usage([...usage, '[options]'].join(' '));
}

function flagName(field: string): string {
  return field.replaceAll('_', '-');
}

const MISSING = 'received undefined';

/**
 * The schema's messages are the same on every transport. A person at a terminal types flags, so the names are
 * replaced by flags.
 */
export function sayInFlags(
  refusal: JsonObject,
  operation: AnyOperation,
  fields: readonly Field[],
): JsonObject {
  const { error, field: path, message } = refusal;
  if (error !== 'invalid_input' || typeof path !== 'string' || typeof message !== 'string') return refusal;
  const [name = '', ...deeper] = path.split('.');
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined || !message.startsWith(`${path}: `)) return refusal;
  const typed = typedName(field, operation);
  if (deeper.length === 0 && message.endsWith(MISSING))
    return { ...refusal, message: `${typed} is missing; see --help` };
  const within = deeper.length === 0 ? '' : ` (${path})`;
  return { ...refusal, message: `${typed}${within}${message.slice(path.length)}` };
}

function typedName({ name, kind }: Field, operation: AnyOperation): string {
  if (operation.positional?.includes(name) === true || name === operation.several) return `<${name}>`;
  const flag = `--${flagName(name)}`;
  return kind === 'boolean' ? `${flag} or --no-${flagName(name)}` : flag;
}

/**
 * Turns words into the operation's input. What can't be parsed stays text, for the schema to refuse by its
 * name.
 */
export function readFields(
  operation: AnyOperation,
  fields: readonly Field[],
  args: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
): { ok: true; input: JsonObject } | { ok: false; refusal: Refusal } {
  const positional = operation.positional ?? [];
  const input: JsonObject = {};
  // One argument is the one item meant. Several are a list, with an answer about each.
  const list = operation.several === undefined ? undefined : (args[0] as string[] | undefined);
  for (const field of fields) {
    const place = positional.indexOf(field.name);
    let given = place === -1 ? options[attributeName(field.name)] : args[place];
    if (list !== undefined && place !== -1) given = list.length === 1 ? list[0] : undefined;
    if (field.name === operation.several) given = list !== undefined && list.length > 1 ? list : undefined;
    if (given === undefined || (field.kind === 'list' && place !== -1 && (given as string[]).length === 0))
      continue;
    const value = readValue(field, given as string | string[] | boolean);
    if (value === undefined)
      return { ok: false, refusal: invalid(field.name, `JSON text, such as '{"a":1}'`) };
    input[field.name] = value;
  }
  const refusal = refuseDepth(input);
  return refusal === undefined ? { ok: true, input } : { ok: false, refusal };
}

function attributeName(field: string): string {
  return new Option(`--${flagName(field)}`).attributeName();
}

function readValue(field: Field, given: string | string[] | boolean): Json | undefined {
  if (typeof given !== 'string') return given;
  if (field.kind === 'number') return readNumber(given);
  if (field.kind !== 'json' && field.kind !== 'either') return given;
  return readJson(field.kind, given);
}
