/** The usual run time of a queue's jobs, from the histograms of its last days. */
import { addHistograms, quantile } from '../core/statistics/histogram.ts';
import type { DayStatistics } from '../core/statistics/statistics.ts';

export interface UsualRun {
  readonly samples: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Fewer samples give no useful estimate. */
export const MIN_SAMPLES = 20;

/** Returns null with too few samples. */
export function usualRun(days: readonly Pick<DayStatistics, 'run'>[]): UsualRun | null {
  const runs = days.map(({ run }) => run).filter(({ histogram }) => histogram !== null);
  const samples = runs.reduce((sum, { count }) => sum + count, 0);
  const histogram = addHistograms(runs.map((run) => run.histogram ?? []));
  const [p50Ms, p95Ms] = [quantile(histogram, 0.5), quantile(histogram, 0.95)];
  if (samples < MIN_SAMPLES || p50Ms === null || p95Ms === null) return null;
  return { samples, meanMs: runs.reduce((sum, { count, mean }) => sum + count * mean, 0) / samples, p50Ms, p95Ms };
}
