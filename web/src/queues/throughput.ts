/** Bars of throughput from the stored points: one for each step, even without a point. Pure. */
import type { ThroughputView } from '../../../src/wire/insight-views.ts';
import { localIso } from '../../../src/wire/spans.ts';
import type { ChartTick } from './chart-ticks.tsx';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The selectable ranges; a bar of the longest is a UTC day. */
export const RANGES = [
  { label: '2 hours', span: 'minute', step: 'a minute', stepMs: MINUTE_MS, bars: 120 },
  { label: '2 days', span: 'hour', step: 'an hour', stepMs: HOUR_MS, bars: 48 },
  { label: '60 days', span: 'hour', step: 'a day', stepMs: DAY_MS, bars: 60 },
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

/** A tick nearer to the end would touch the label `now`. */
const LAST_SHARE = 0.9;

/** Returns the labels of the time axis: full half hours, noons and midnights, or every tenth day. */
export function ticksOf(bars: readonly Bar[], range: Range): readonly ChartTick[] {
  const ticks = bars.flatMap(({ at }, place) => {
    const share = place / bars.length;
    return isTick(at, place, range) && share <= LAST_SHARE ? [{ share, text: tickText(at, range) }] : [];
  });
  return [...ticks, { share: 1, text: 'now' }];
}

function isTick(at: number, place: number, { label }: Range): boolean {
  const date = new Date(at);
  if (label === '2 hours') return date.getMinutes() % 30 === 0;
  return label === '2 days' ? date.getHours() % 12 === 0 : place % 10 === 0;
}

function tickText(at: number, range: Range): string {
  const time = timeOf(at, range);
  return range.label === '2 days' && time.endsWith(' 00:00') ? time.slice(0, 5) : time.replace(/^\d\d-\d\d /, '');
}

/** Returns the time of a bar: of 24 hours and local; days are UTC days, as the statistics count them. */
export function timeOf(at: number, { label }: Range): string {
  if (label === '60 days') return `${new Date(at).toISOString().slice(5, 10)}`;
  return localIso(at).slice(label === '2 days' ? 5 : 11, 16);
}
