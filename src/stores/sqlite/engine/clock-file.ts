/**
 * The file `clock` beside the database: what the engines of several processes remember of their common clock.
 *
 * Calls that change nothing update it too, and must not cost an fsync, so it is not part of the database. It is read and
 * written only under the write lock. After a power cut, or on a full disk, it may be outdated, which is harmless.
 *
 * Its last part is when engines waited for that lock. They write it without the lock, so a wait may be lost when two
 * engines write at the same time; each of them writes again at its next try.
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClockMemory, Gap } from '../../../core/lifecycle/clock.ts';
import { NO_GAP } from '../../../core/lifecycle/clock.ts';

/** The position of the last wait. */
const LOCKED_AT = 4 * Float64Array.BYTES_PER_ELEMENT;

export class ClockFile {
  readonly #file: number;
  /** A counter of writes, then `seenAt` and the gap. */
  readonly #numbers = new Float64Array(4);
  readonly #locked = new Float64Array(2);
  #known = 0;

  constructor(database: string) {
    this.#file = openSync(join(dirname(database), 'clock'), constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** Returns what another engine wrote since this one last read or wrote; undefined if none did. */
  read(): ClockMemory | undefined {
    const length = readSync(this.#file, this.#numbers, 0, this.#numbers.byteLength, 0);
    const [written = 0, seenAt = 0, from = 0, to = 0] = this.#numbers;
    if (length < this.#numbers.byteLength || written === this.#known) return undefined;
    this.#known = written;
    return { seenAt, gap: { from, to } };
  }

  write({ seenAt, gap }: ClockMemory): void {
    this.#known += 1;
    this.#numbers.set([this.#known, seenAt, gap.from, gap.to]);
    try {
      writeSync(this.#file, this.#numbers, 0, this.#numbers.byteLength, 0);
    } catch {
      return;
    }
  }

  /** Returns when engines last waited for the lock. */
  readLocked(): Gap {
    const length = readSync(this.#file, this.#locked, 0, this.#locked.byteLength, LOCKED_AT);
    const [from = 0, to = 0] = this.#locked;
    return length < this.#locked.byteLength ? NO_GAP : { from, to };
  }

  /** Joins a wait to that of another engine at the same time: a short one must not hide a long one. */
  writeLocked({ from, to }: Gap): void {
    try {
      const known = this.readLocked();
      this.#locked.set([known.to >= from ? Math.min(known.from, from) : from, to]);
      writeSync(this.#file, this.#locked, 0, this.#locked.byteLength, LOCKED_AT);
    } catch {
      return;
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}
