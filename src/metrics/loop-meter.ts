/** The delay of the event loop of this process. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { family } from './catalogue.ts';
import type { Family } from './metrics-text.ts';

/** A shorter interval would be the main reason for an idle process to wake up. */
const STEP_MS = 250;
const NANO = 1e9;

export class LoopMeter {
  readonly #delay = monitorEventLoopDelay({ resolution: STEP_MS });
  #count = 0;
  #sum = 0;

  constructor() {
    this.#delay.enable();
  }

  /** The quantiles cover the time since the last read, so that one bad moment does not dominate the day. */
  family(): Family {
    const { count, mean, max } = this.#delay;
    this.#count += count;
    this.#sum += count === 0 ? 0 : seconds(mean) * count;
    const samples = [
      { labels: { quantile: '0.5' }, value: seconds(this.#delay.percentile(50)) },
      { labels: { quantile: '0.99' }, value: seconds(this.#delay.percentile(99)) },
      { labels: { quantile: '1' }, value: seconds(max) },
      { suffix: '_sum', value: this.#sum },
      { suffix: '_count', value: this.#count },
    ];
    this.#delay.reset();
    return family('event_loop_delay_seconds', samples);
  }

  stop(): void {
    this.#delay.disable();
  }
}

/** The monitor includes its own sampling interval in each value. */
function seconds(nano: number): number {
  return Math.max(0, Number.isFinite(nano) ? nano / NANO - STEP_MS / 1_000 : 0);
}
