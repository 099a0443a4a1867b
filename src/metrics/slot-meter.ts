/** Slots and capacity of the workers of this process, read on request. */
import type { CapacityUsage } from '../worker/loop/capacity-pool.ts';
import { family } from './catalogue.ts';
import type { Family, Sample } from './metrics-text.ts';

/** The slots of one worker. A worker of several queues has their names, separated by commas. */
export interface Slots {
  readonly queue: string;
  readonly slots: number;
  readonly used: number;
}

export function slotFamilies(workers: readonly Slots[]): readonly Family[] {
  const byQueue = new Map<string, { slots: number; used: number }>();
  for (const { queue, slots, used } of workers) {
    const sum = byQueue.get(queue) ?? { slots: 0, used: 0 };
    byQueue.set(queue, { slots: sum.slots + slots, used: sum.used + used });
  }
  const samples = (of: 'slots' | 'used'): readonly Sample[] =>
    [...byQueue].map(([queue, sum]) => ({ labels: { queue }, value: sum[of] }));
  return [family('slots', samples('slots')), family('slots_used', samples('used'))];
}

export function capacityFamilies(pools: readonly CapacityUsage[]): readonly Family[] {
  const sums = (of: keyof CapacityUsage): readonly Sample[] => {
    const sum = new Map<string, number>();
    for (const pool of pools)
      for (const [resource, amount] of Object.entries(pool[of])) sum.set(resource, (sum.get(resource) ?? 0) + amount);
    return [...sum].map(([resource, value]) => ({ labels: { resource }, value }));
  };
  return [family('capacity', sums('whole')), family('capacity_used', sums('used'))];
}
