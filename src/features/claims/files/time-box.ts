/** A time box as feature files write it; the key names differ between implementations. */
export interface TimeBox {
  readonly enabled?: boolean | null | undefined;
  readonly duration?: string | number | null | undefined;
  readonly started?: string | number | null | undefined;
  readonly started_at?: string | number | null | undefined;
  readonly ends?: string | null | undefined;
  readonly expires_at?: string | null | undefined;
}

const UNITS_MS: readonly (readonly [RegExp, number])[] = [
  [/^s(?:ec(?:ond)?s?)?$/, 1000],
  [/^m(?:in(?:ute)?s?)?$/, 60_000],
  [/^h(?:(?:ou)?rs?)?$/, 3_600_000],
  [/^d(?:ays?)?$/, 86_400_000],
  [/^w(?:eeks?)?$/, 7 * 86_400_000],
];

/**
 * When it ends: as stated, or its start plus `1 week`, `3 days`, `2h`. Undefined: it has none, or has not
 * begun.
 */
export function timeBoxEnd(box: TimeBox): number | undefined {
  if (box.enabled === false) return undefined;
  const end_ms = moment(box.ends ?? box.expires_at);
  if (end_ms !== undefined) return end_ms;
  const started_ms = moment(box.started ?? box.started_at);
  const duration_ms = spanOf(box.duration);
  return started_ms === undefined || duration_ms === undefined ? undefined : started_ms + duration_ms;
}

function spanOf(given: string | number | null | undefined): number | undefined {
  const [, count = '', unit = ''] =
    /^(\d{1,6}(?:\.\d{1,3})?)\s*([a-z]+)$/.exec(String(given).trim().toLowerCase()) ?? [];
  const size_ms = UNITS_MS.find(([pattern]) => pattern.test(unit))?.[1];
  return size_ms === undefined ? undefined : Number(count) * size_ms;
}

function moment(given: string | number | null | undefined): number | undefined {
  if (typeof given !== 'string' || !/^\d{4}-\d\d-\d\d/.test(given)) return undefined;
  const time_ms = Date.parse(given);
  return Number.isNaN(time_ms) ? undefined : time_ms;
}
