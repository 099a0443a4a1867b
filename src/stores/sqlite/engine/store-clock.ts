/**
 * The clock of one engine: what core/lifecycle/clock.ts makes of each reading, together with what other engines and earlier
 * runs saw. A look leaves no trace; a transaction that is undone takes its readings back.
 */
import type { ClockMemory, ClockSource, Moment, Reading } from '../../../core/lifecycle/clock.ts';
import { NEVER_SEEN, NO_GAP, readClock } from '../../../core/lifecycle/clock.ts';

export class StoreClock {
  readonly #source: ClockSource;
  #memory: ClockMemory = NEVER_SEEN;
  #kept: ClockMemory = NEVER_SEEN;
  #isInCompany = false;
  #isNew = false;

  constructor(source: ClockSource) {
    this.#source = source;
  }

  get memory(): ClockMemory {
    return this.#memory;
  }

  /** What the file remembers of earlier runs, and of others. */
  join(stored: ClockMemory): void {
    this.#remember(later(this.#memory, stored));
  }

  /** Others are there and have not said yet what they saw: the time until the first call is taken for no gap. */
  arriveLate(): void {
    this.#isNew = true;
  }

  /**
   * What the others last agreed on holds for this engine too. Only what it saw while it was alone must not be
   * lost: it told nobody.
   */
  agree(others: ClockMemory | undefined): void {
    if (others !== undefined) {
      this.#remember(this.#isInCompany ? others : later(this.#memory, others));
      this.#isNew = false;
    }
    this.#isInCompany = true;
  }

  look(now: number | undefined): Moment {
    const time = this.#time(now);
    return this.#source === 'caller' ? { now: time, gap: NO_GAP } : readClock(this.#memory, time);
  }

  read(now: number | undefined): Reading {
    const time = this.#time(now);
    if (this.#source === 'caller') return { now: time, gap: NO_GAP, memory: this.#memory, hasSteppedBack: false };
    if (this.#isNew) this.#memory = { ...this.#memory, seenAt: Math.max(this.#memory.seenAt, time) };
    this.#isNew = false;
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

  #remember(memory: ClockMemory): void {
    this.#memory = memory;
    this.#kept = memory;
  }

  #time(now: number | undefined): number {
    return this.#source === 'store' ? Date.now() : (now ?? Date.now());
  }
}

function later(a: ClockMemory, b: ClockMemory): ClockMemory {
  return { seenAt: Math.max(a.seenAt, b.seenAt), gap: a.gap.to >= b.gap.to ? a.gap : b.gap };
}
