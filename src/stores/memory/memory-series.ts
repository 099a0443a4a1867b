/** Throughput over time in the memory store: a map of pages by queue and ring slot (core/statistics/series.ts). */
import type { SeriesPage, Span } from '../../core/statistics/series.ts';
import { endCountsOf, pageAt, ringSlotOf, SPAN_NAMES, withEnds } from '../../core/statistics/series.ts';
import type { Measurement } from '../../core/statistics/statistics.ts';

export class MemorySeries {
  readonly #pages = new Map<string, { readonly queue: string; readonly page: SeriesPage }>();

  measure(measurement: Measurement): void {
    const ends = endCountsOf(measurement);
    if (ends === null) return;
    const { queue, at } = measurement;
    for (const span of SPAN_NAMES) {
      const known = this.#pages.get(addressOf(queue, span, pageAt(span, at)));
      this.put(queue, withEnds(known?.page, span, { ...ends, at }));
    }
  }

  pages(queue: string, span: Span, first: number): readonly SeriesPage[] {
    const own = [...this.#pages.values()].filter((each) => each.queue === queue);
    return own.map(({ page }) => page).filter((each) => each.span === span && each.page >= first);
  }

  put(queue: string, page: SeriesPage): void {
    this.#pages.set(addressOf(queue, page.span, page.page), { queue, page });
  }

  clear(): void {
    this.#pages.clear();
  }
}

function addressOf(queue: string, span: Span, page: number): string {
  return `${queue} ${span} ${ringSlotOf(span, page)}`;
}
