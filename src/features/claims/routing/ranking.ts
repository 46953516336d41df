import type { Feature } from './feature.ts';
import type { Progress } from './feature-progress.ts';

/** This soon before its end, a time box takes precedence over everything else. */
const TIME_BOX_SOON_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** Which feature comes first: the smaller number, tier by tier. */
export interface Rank {
  readonly feature: string;
  readonly tiers: readonly Tier[];
}

interface Tier {
  readonly value: number;
  /** Why it comes first, when this tier made the difference. */
  readonly words: string;
}

/**
 * Time box about to end, fewest unconverged edges, priority, most recently touched; then the name, so that
 * the order is total.
 */
export function rankOf(feature: Feature, progress: Progress, touched_ms: number, now_ms: number): Rank {
  const left_ms = (feature.time_box_ends_ms ?? Number.POSITIVE_INFINITY) - now_ms;
  const edges = progress.unconverged(feature).length;
  return {
    feature: feature.feature,
    tiers: [
      {
        value: left_ms <= TIME_BOX_SOON_MS ? left_ms : Number.POSITIVE_INFINITY,
        words: `its time box ends in ${hours(left_ms)}`,
      },
      { value: edges, words: `closest to complete: ${edges === 1 ? 'one edge' : `${edges} edges`} to go` },
      { value: feature.priority, words: `priority ${feature.priority}` },
      { value: -touched_ms, words: 'most recently touched' },
    ],
  };
}

/** Negative: `a` comes first. */
export function compareRanks(a: Rank, b: Rank): number {
  const tier = decidingTier(a, b);
  if (tier === undefined) return a.feature < b.feature ? -1 : a.feature > b.feature ? 1 : 0;
  return (a.tiers[tier]?.value ?? 0) < (b.tiers[tier]?.value ?? 0) ? -1 : 1;
}

/** What put `first` before `second`, in words. */
export function whyBefore(first: Rank, second: Rank | undefined): string {
  if (second === undefined) return 'the only one that fits';
  const tier = decidingTier(first, second);
  return tier === undefined ? 'the first by name among equals' : (first.tiers[tier]?.words ?? '');
}

function decidingTier(a: Rank, b: Rank): number | undefined {
  const found = a.tiers.findIndex(({ value }, index) => value !== b.tiers[index]?.value);
  return found === -1 ? undefined : found;
}

function hours(left_ms: number): string {
  return left_ms < HOUR_MS ? 'less than an hour' : `${Math.floor(left_ms / HOUR_MS)} h`;
}
