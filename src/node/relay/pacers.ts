/** Bandwidth limits of relays: one for each destination with a limit of its own, and one for all together. */
import type { Pacer } from '../../outbound/pacer.ts';
import { createPacer } from '../../outbound/pacer.ts';
import type { NodeSettings } from '../node-settings.ts';

const ALL = '';

export class Pacers {
  readonly #settings: Pick<NodeSettings, 'outbound'>;
  readonly #pacers = new Map<string, Pacer>();

  constructor(settings: Pick<NodeSettings, 'outbound'>) {
    this.#settings = settings;
  }

  /** Returns the limit under the current settings; null: unlimited. */
  of(base: string): Pacer | null {
    const { destinations, bandwidth } = this.#settings.outbound;
    const own = this.#at(base, destinations.get(base)?.bandwidth ?? null);
    const all = this.#at(ALL, bandwidth);
    if (own === null || all === null) return own ?? all;
    return {
      bytesPerSecond: Math.min(own.bytesPerSecond, all.bytesPerSecond),
      take: async (bytes, signal) => void (await Promise.all([own.take(bytes, signal), all.take(bytes, signal)])),
    };
  }

  #at(key: string, bytesPerSecond: number | null): Pacer | null {
    if (bytesPerSecond === null) return null;
    const known = this.#pacers.get(key);
    if (known?.bytesPerSecond === bytesPerSecond) return known;
    const pacer = createPacer(bytesPerSecond);
    this.#pacers.set(key, pacer);
    return pacer;
  }
}
