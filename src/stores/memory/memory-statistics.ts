/** Statistics of the memory store: for each queue a map of cells by address. */
import { aggregateText, newAggregate, readAggregate, withoutBuckets } from '../../core/statistics/aggregate.ts';
import type { CellKind, Measurement, StoredCell } from '../../core/statistics/statistics.ts';
import { cellOrder, cellsOf, dayOf, MAX_CELLS, measure } from '../../core/statistics/statistics.ts';
import type { StoredSize } from '../../core/statistics/storage.ts';

export class MemoryStatistics {
  readonly #queues = new Map<string, Map<string, StoredCell>>();

  measure(measurement: Measurement): void {
    for (const [kind, name] of cellsOf(measurement)) {
      const cell = this.#cell(measurement, kind, name);
      if (cell !== undefined) measure(cell.figures, measurement);
    }
  }

  statistics(queue: string, from: number, to: number): readonly StoredCell[] {
    return this.#cells(queue)
      .filter(({ day }) => day >= from && day <= to)
      .sort(cellOrder);
  }

  before(queue: string, day: number): StoredSize {
    const old = this.statistics(queue, 0, day - 1);
    return { count: old.length, bytes: old.reduce((sum, { figures }) => sum + aggregateText(figures).length, 0) };
  }

  forget(queue: string, kept: { day: number; histogramDay: number }, limit: number): void {
    const old = this.statistics(queue, 0, kept.day - 1).slice(0, limit);
    for (const { day, kind, name } of old) this.#queues.get(queue)?.delete(addressOf(day, kind, name));
    const stale = this.statistics(queue, 0, kept.histogramDay - 1).filter(({ figures }) => figures.hasBuckets);
    for (const cell of stale.slice(0, limit)) this.put(queue, withoutHistogram(cell));
  }

  #cell({ queue, at }: Measurement, kind: CellKind, name: string): StoredCell | undefined {
    const day = dayOf(at);
    const known = this.#queues.get(queue)?.get(addressOf(day, kind, name));
    if (known !== undefined) return known;
    if (kind !== 'queue' && this.statistics(queue, day, day).length >= MAX_CELLS) return undefined;
    return this.put(queue, { day, kind, name, figures: newAggregate(at) });
  }

  put(queue: string, cell: StoredCell): StoredCell {
    const cells = this.#queues.get(queue) ?? new Map<string, StoredCell>();
    this.#queues.set(queue, cells.set(addressOf(cell.day, cell.kind, cell.name), cell));
    return cell;
  }

  clear(): void {
    this.#queues.clear();
  }

  #cells(queue: string): StoredCell[] {
    return [...(this.#queues.get(queue)?.values() ?? [])];
  }
}

function addressOf(day: number, kind: CellKind, name: string): string {
  return `${day} ${kind} ${name}`;
}

function withoutHistogram(cell: StoredCell): StoredCell {
  return { ...cell, figures: readAggregate(withoutBuckets(aggregateText(cell.figures))) };
}
