/**
 * The clock of one engine: applies core/lifecycle/clock.ts to each reading, with the memory shared by other engines and
 * earlier runs. `peek` changes nothing; a rollback discards the readings of the transaction.
 */
import type { ClockMemory, ClockSource, Gap, Moment, Reading } from '../../../core/lifecycle/clock.ts';
import { NEVER_SEEN, NO_GAP, readClock } from '../../../core/lifecycle/clock.ts';

export class StoreClock {
  readonly #source: ClockSource;
  #memory: ClockMemory = NEVER_SEEN;
  #committed: ClockMemory = NEVER_SEEN;
  #isShared = false;
  #hasJustJoined = false;
  #locked: Gap = NO_GAP;

  constructor(source: ClockSource) {
    this.#source = source;
  }

  get memory(): ClockMemory {
    return this.#memory;
  }

  /** Merges what the file remembers of earlier runs and of other engines. */
  merge(stored: ClockMemory): void {
    this.#remember(later(this.#memory, stored));
  }

  /** Other engines run but have not shared their memory yet: the time until the first call does not count as a gap. */
  joinLate(): void {
    this.#hasJustJoined = true;
  }

  /**
   * Takes over the memory that the other engines share. What this engine saw while it was alone must not be lost: it was
   * not shared yet.
   */
  applyShared(shared: ClockMemory | undefined): void {
    if (shared !== undefined) {
      this.#remember(this.#isShared ? shared : later(this.#memory, shared));
      this.#hasJustJoined = false;
    }
    this.#isShared = true;
  }

  /** Takes over when engines last waited for the write lock. Their times mean nothing to a clock that callers set. */
  applyLocked(locked: Gap): void {
    if (this.#source === 'store') this.#locked = locked;
  }

  peek(now: number | undefined): Moment {
    const time = this.#time(now);
    return this.#source === 'caller' ? { now: time, gap: NO_GAP } : readClock(this.#memory, time);
  }

  read(now: number | undefined): Reading {
    const time = this.#time(now);
    if (this.#source === 'caller') return { now: time, gap: NO_GAP, memory: this.#memory, hasSteppedBack: false };
    if (this.#hasJustJoined) this.#memory = { ...this.#memory, seenAt: Math.max(this.#memory.seenAt, time) };
    this.#hasJustJoined = false;
    const reading = readClock(this.#memory, time, this.#locked);
    this.#memory = reading.memory;
    return reading;
  }

  commit(): void {
    this.#committed = this.#memory;
  }

  rollback(): void {
    this.#memory = this.#committed;
  }

  #remember(memory: ClockMemory): void {
    this.#memory = memory;
    this.#committed = memory;
  }

  #time(now: number | undefined): number {
    return this.#source === 'store' ? Date.now() : (now ?? Date.now());
  }
}

function later(a: ClockMemory, b: ClockMemory): ClockMemory {
  return { seenAt: Math.max(a.seenAt, b.seenAt), gap: a.gap.to >= b.gap.to ? a.gap : b.gap };
}
