/** What retention would take now: a look that changes nothing, for whoever wants to know before it happens. */
import type { Keep } from './settings.ts';

/** Jobs of a queue that would go, and why: older than they are kept, or beyond the number that is kept. */
export interface Prunable {
  readonly queue: string;
  readonly state: 'draft' | 'done' | 'failed' | 'cancelled';
  readonly byAge: number;
  readonly byCount: number;
}

/** Of `total` jobs `old` ended too long ago; of the others so many are kept. */
export function surplusOf(total: number, old: number, { count }: Keep): Pick<Prunable, 'byAge' | 'byCount'> {
  return { byAge: old, byCount: count === null ? 0 : Math.max(0, total - old - count) };
}
