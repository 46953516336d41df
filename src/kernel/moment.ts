/** A point in history: a time by the clock, or the position right after one row of the log. */
export type Moment = { readonly at_ms: number } | { readonly position: number };

/** The forms in which a person may write a moment, for refusals and help. */
export const MOMENT_FORMS =
  'a time such as 2026-03-01T12:00:00Z, 2026-03-01 12:00 (local), 90m, 2h ago, or #123 (a position of the log)';

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const POSITION = /^#(\d{1,15})$/;
const AGO = /^((?:\d{1,9}(?:ms|s|min|m|h|d|w))+)(?: ago)?$/;
const AGO_PART = /(\d+)(ms|s|min|m|h|d|w)/g;
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * Undefined for text that is no moment, or may mean another one than intended: a bare number (seconds? a
 * position?), a time without its day, a local time that occurs twice at the end of summer time.
 */
export function parseMoment(text: string, now_ms: number): Moment | undefined {
  const words = text.trim();
  if (words === 'now') return { at_ms: now_ms };
  const [, position] = POSITION.exec(words) ?? [];
  if (position !== undefined) return { position: Number(position) };
  const [, ago] = AGO.exec(words) ?? [];
  const at_ms = ago === undefined ? isoMoment(words) : now_ms - duration_ms(ago);
  return at_ms === undefined || !Number.isFinite(at_ms) ? undefined : { at_ms };
}

function duration_ms(text: string): number {
  let sum_ms = 0;
  for (const [, amount, unit = ''] of text.matchAll(AGO_PART))
    sum_ms += Number(amount) * (UNIT_MS[unit] ?? 0);
  return sum_ms;
}

function isoMoment(text: string): number | undefined {
  const parts = ISO.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  // The log has no finer times than milliseconds.
  const fraction_ms = Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3));
  const civil_ms = Date.UTC(year, month - 1, day, hour, minute, second, fraction_ms);
  // The 30th of February rolls over into March.
  if (hour > 23 || minute > 59 || second > 59 || new Date(civil_ms).getUTCDate() !== day) return undefined;
  if (month < 1 || month > 12) return undefined;
  return parts[8] === undefined ? localMoment(civil_ms) : zoned(civil_ms, parts[8]);
}

function zoned(civil_ms: number, zone: string): number | undefined {
  if (zone === 'Z') return civil_ms;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  if (hours > 23 || minutes > 59) return undefined;
  const offset_ms = hours * 3_600_000 + minutes * 60_000;
  return zone.startsWith('-') ? civil_ms + offset_ms : civil_ms - offset_ms;
}

/** A local time that occurs exactly once: not never (spring) or twice (autumn). */
function localMoment(civil_ms: number): number | undefined {
  const candidates = new Set<number>();
  for (const near_ms of [civil_ms - 86_400_000, civil_ms + 86_400_000]) {
    const at_ms = civil_ms + offset_ms(near_ms);
    if (at_ms - offset_ms(at_ms) === civil_ms) candidates.add(at_ms);
  }
  const [only] = candidates;
  return candidates.size === 1 ? only : undefined;
}

/** What to add to local time to get UTC. */
function offset_ms(at_ms: number): number {
  return new Date(at_ms).getTimezoneOffset() * 60_000;
}

const two = (value: number) => String(value).padStart(2, '0');

/** Local and to the second: readable for people, and `parseMoment` reads it back. */
export function localTime(at_ms: number): string {
  const time = new Date(at_ms);
  if (Number.isNaN(time.getTime())) return String(at_ms);
  const date = `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`;
}
