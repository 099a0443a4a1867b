/** A short duration text with millisecond resolution: '250 ms', '45 s', '3 d'. Pure. */
import { DAY_MS } from '../../../src/core/statistics/histogram.ts';
import { span } from '../../../src/wire/spans.ts';

export function shortDuration(ms: number): string {
  if (ms >= DAY_MS && ms % DAY_MS === 0) return `${ms / DAY_MS} d`;
  return ms < 1_000 ? `${Math.max(1, Math.round(ms))} ms` : span(ms);
}
