/**
 * The metrics of a process, from named sources. A part of the process that has metrics of its own registers a source:
 *
 *     const unregister = metrics.register('outbox', async () => [{ name: 'longhaul_outbox_lag_seconds', … }]);
 *
 * A source that cannot be read shows as `longhaul_metric_source_up 0`; the others are not affected. Reads at the same time
 * share one round.
 */
import { family } from './catalogue.ts';
import type { Family } from './metrics-text.ts';
import { metricsText } from './metrics-text.ts';

export type MetricSource = () => Promise<readonly Family[]> | readonly Family[];

export class MetricsRegistry {
  readonly #sources = new Map<string, MetricSource>();
  #reading: Promise<readonly Family[]> | null = null;

  /** Adds a source under a name. Returns a function that removes it. */
  register(name: string, source: MetricSource): () => void {
    this.#sources.set(name, source);
    return () => void this.#sources.delete(name);
  }

  families(): Promise<readonly Family[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Returns the metrics as Prometheus text. */
  async text(): Promise<string> {
    return metricsText(await this.families());
  }

  async #read(): Promise<readonly Family[]> {
    const read = async (name: string, source: MetricSource) => {
      const families = await Promise.resolve()
        .then(source)
        .catch(() => null);
      return { name, families };
    };
    const answers = await Promise.all([...this.#sources].map(([name, source]) => read(name, source)));
    const up = answers.map(({ name, families }) => ({ labels: { source: name }, value: families === null ? 0 : 1 }));
    return [...answers.flatMap(({ families }) => families ?? []), family('metric_source_up', up)];
  }
}
