/**
 * The clock of one engine: what core/clock.ts makes of each reading, together with what other engines and earlier
 * runs saw. A look leaves no trace; a transaction that is undone takes its readings back.
 */
import type { ClockMemory, ClockSource, Moment, Reading } from '../../core/clock.ts';
import { NEVER_SEEN, NO_GAP, readClock } from '../../core/clock.ts';

export class StoreClock {
  readonly #source: ClockSource;
  #memory: ClockMemory = NEVER_SEEN;
  #kept: ClockMemory = NEVER_SEEN;

  constructor(source: ClockSource) {
    this.#source = source;
  }

  get memory(): ClockMemory {
    return this.#memory;
  }

  /** What the file remembers: another engine may have seen more than this one. */
  join(stored: ClockMemory): void {
    this.#memory = later(this.#memory, stored);
    this.#kept = this.#memory;
  }

  look(now: number | undefined): Moment {
    const time = this.#time(now);
    return this.#source === 'caller' ? { now: time, gap: NO_GAP } : readClock(this.#memory, time);
  }

  read(now: number | undefined): Reading {
    const time = this.#time(now);
    if (this.#source === 'caller') return { now: time, gap: NO_GAP, memory: this.#memory, hasSteppedBack: false };
    const reading = readClock(this.#memory, time);
    this.#memory = reading.memory;
    return reading;
  }

  keep(): void {
    this.#kept = this.#memory;
  }

  undo(): void {
    this.#memory = this.#kept;
  }

  #time(now: number | undefined): number {
    return this.#source === 'store' ? Date.now() : (now ?? Date.now());
  }
}

function later(a: ClockMemory, b: ClockMemory): ClockMemory {
  return { seenAt: Math.max(a.seenAt, b.seenAt), gap: a.gap.to >= b.gap.to ? a.gap : b.gap };
}
