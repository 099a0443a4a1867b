/** Sums of the storage of queues. Pure. */
import type { prunableView, storageView } from '../../../src/wire/insight-views.ts';

export type Kept = ReturnType<typeof storageView>['queues'][number];
export type Prunable = ReturnType<typeof prunableView>['jobs'][number];
export type Part = 'done' | 'failed' | 'cancelled' | 'results' | 'logs' | 'attachments';

export const PARTS: readonly (readonly [part: Part, label: string])[] = [
  ['done', 'Done'],
  ['failed', 'Failed'],
  ['cancelled', 'Cancelled'],
  ['results', 'Results (included)'],
  ['logs', 'Logs'],
  ['attachments', 'Attachments'],
];

/** The total of a queue; results are part of their jobs. */
export function totalOf(kept: Kept): number {
  return PARTS.reduce((sum, [part]) => sum + (part === 'results' ? 0 : (kept[part]?.bytes ?? 0)), 0);
}

/** The sum over queues; null if it was not measured yet. */
export function sumOf(queues: readonly Kept[], part: Part): number | null {
  const known = queues.flatMap((kept) => (kept[part] === null ? [] : [kept[part].bytes]));
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0);
}

/** The bytes past retention of one queue, or of all. */
export function expiredBytes(due: readonly Prunable[], queue: string | null): number {
  return due.reduce((sum, each) => sum + (queue === null || each.queue === queue ? each.bytes : 0), 0);
}
