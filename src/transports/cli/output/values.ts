import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { View } from './layout.ts';
import { plain, relative } from './text.ts';

/** `file_path` for a program is `file path` for a person, `expires_at` is `expires`. */
export function label(name: string): string {
  return plain(name).replace(/_at$/, '').replaceAll('_', ' ');
}

const TIMES = /(_at|^last_heartbeat|^last_active|^not_before)$/;

/** Undefined: it is not a time. */
export function timeOf(name: string, value: Json | undefined, { now_ms }: View): string | undefined {
  return TIMES.test(name) ? relative(value, now_ms) : undefined;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/**
 * Enough to recognise an id. The end is shown, because the beginning is the time and the same for all ids of
 * one hour.
 */
export function shortId(id: string): string {
  return UUID.test(id) ? `…${id.slice(-6)}` : id;
}

/** A value on one line, as a person would write it. */
export function valueText(value: Json): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (!Array.isArray(value)) return plain(value);
  if (value.length === 0) return 'none';
  return value.every((item) => typeof item === 'string') ? value.map(plain).join(', ') : plain(value);
}

export function isRow(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function isRows(value: Json): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRow);
}
