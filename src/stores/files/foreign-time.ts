const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,12}))?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** Numbers are seconds, unless that would be beyond the year 5138: then they are milliseconds. */
const SECONDS_MAX = 100_000_000_000;
const LAST_MS = 8_640_000_000_000_000;

/**
 * Times as other programs write them: any number of decimals, with or without a zone. Without one it is UTC,
 * because local time would mean another moment on another machine. Undefined: not a time.
 */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number') {
    const at_ms = Math.floor(value < SECONDS_MAX ? value * 1000 : value);
    return at_ms >= 0 && at_ms <= LAST_MS ? at_ms : undefined;
  }
  if (typeof value !== 'string' || value.length > 64) return undefined;
  const parts = ISO.exec(value.trim());
  if (parts === null) return undefined;
  const [, day, time, decimals = '', zone = 'Z'] = parts;
  const at_ms = Date.parse(`${day}T${time}${time?.length === 5 ? ':00' : ''}${fullZone(zone)}`);
  if (Number.isNaN(at_ms) || at_ms < 0) return undefined;
  return at_ms + Number(decimals.slice(0, 3).padEnd(3, '0'));
}

/** `+01`, `+0100` and `+01:00` are the same zone. */
function fullZone(zone: string): string {
  if (zone.length === 1) return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
