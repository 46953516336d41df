/** No limit, in a profile's file and where a profile is shown. */
export const UNLIMITED = 'unlimited';

const UNITS: readonly (readonly [unit: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];

const DURATION = /^(\d{1,6})([smhd])$/;

/** Seconds of `30m`, `2h`, `90s`, `1d`; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text.trim()) ?? [];
  const seconds = UNITS.find(([each]) => each === unit)?.[1];
  return seconds === undefined ? undefined : Number(count) * seconds;
}

/** In the largest unit that gives a whole number, as people write it. */
export function showDuration(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds % each === 0 && seconds >= each) ?? ['s', 1];
  return `${seconds / size}${unit}`;
}
