import { canonical, isObject, type Json, type JsonObject } from '../../kernel/json.ts';

/** One value that has changed. A missing side means that the field did not exist. */
export interface FieldChange {
  /** A JSON pointer (RFC 6901): `/lease/agent_id`. It can express names with dots and slashes in them. */
  readonly path: string;
  readonly from?: Json;
  readonly to?: Json;
}

/**
 * Objects are compared name by name, other values as a whole. A field whose value is undefined counts as
 * missing.
 */
export function fieldChanges(before: JsonObject, after: JsonObject): FieldChange[] {
  return [...compared(before, after, '')];
}

function* compared(before: JsonObject, after: JsonObject, path: string): Iterable<FieldChange> {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const from = ownValue(before, name);
    const to = ownValue(after, name);
    const inner = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (isObject(from) && isObject(to)) yield* compared(from, to, inner);
    else if (canonical(from ?? null) !== canonical(to ?? null) || (from === undefined) !== (to === undefined))
      yield {
        path: inner,
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      };
  }
}

function ownValue(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The names in a pointer. */
export function pointerNames(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
