/** Bars of throughput from the stored points: one for each step, even without a point. Pure. */
import type { ThroughputView } from '../../../src/wire/insight-views.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The selectable ranges; a bar of the longest is a UTC day. */
export const RANGES = [
  { label: '2 hours', span: 'minute', stepMs: MINUTE_MS, bars: 120 },
  { label: '2 days', span: 'hour', stepMs: HOUR_MS, bars: 48 },
  { label: '60 days', span: 'hour', stepMs: DAY_MS, bars: 60 },
] as const;
export type Range = (typeof RANGES)[number];

export interface Bar {
  readonly at: number;
  readonly done: number;
  readonly failed: number;
}

/** Returns the bars; the last one is incomplete. */
export function barsOf(
  { points, now }: Pick<ThroughputView, 'points' | 'now'>,
  { stepMs, bars }: Range,
): readonly Bar[] {
  const first = Math.floor(now / stepMs) - bars + 1;
  const found = Array.from({ length: bars }, (_, place) => ({ at: (first + place) * stepMs, done: 0, failed: 0 }));
  for (const { at, done, failed } of points) {
    const bar = found[Math.floor(at / stepMs) - first];
    if (bar === undefined) continue;
    bar.done += done;
    bar.failed += failed;
  }
  return found;
}
