/**
 * Watches the free space on the disks of running attempts.
 *
 * The fuller a disk is, the more often it is checked: before a fast writer could fill it, but at most every 50 ms. A
 * disk that is full for a shorter time can go unseen.
 */
import { statfsSync, statSync } from 'node:fs';

/** The log of an attempt, as the disk watch sees it. */
export interface DiskObserver {
  readonly folder: string;
  /** When this process began to watch the attempt, epoch ms. */
  readonly watchedAt: number;
  /** Called when the disk is full; it had room at `since`. */
  diskIsFull(since: number, now: number): void;
  diskHasRoom(now: number): void;
}

export interface DiskWatchOptions {
  attempts(): Iterable<DiskObserver>;
  onTrouble(what: string, error: unknown): void;
  /** Returns the free bytes on the disk of a directory; null where they are unknown. */
  readonly freeIn?: (folder: string) => number | null;
}

/** File systems refuse a write before their last bytes are used. */
const FULL_BYTES = 64 * 1024;
const SHORTEST_MS = 50;
const LONGEST_MS = 1_000;
const MAX_BYTES_PER_MS = 2_000_000;

export class DiskWatch {
  readonly #attempts: () => Iterable<DiskObserver>;
  readonly #freeIn: (folder: string) => number | null;
  readonly #onTrouble: DiskWatchOptions['onTrouble'];
  /** When each disk last had room, by device. */
  readonly #roomAt = new Map<number, number>();
  readonly #devices = new WeakMap<DiskObserver, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor({ attempts, onTrouble, freeIn = freeBytes }: DiskWatchOptions) {
    this.#attempts = attempts;
    this.#onTrouble = onTrouble;
    this.#freeIn = freeIn;
  }

  start(): void {
    this.#timer ??= setTimeout(() => this.#checkAndSchedule(), this.#checkAll()).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#roomAt.clear();
  }

  /** Checks the disk of one attempt now: its end may come before the next check. */
  check(attempt: DiskObserver): void {
    this.#checkDisk([attempt]);
  }

  #checkAndSchedule(): void {
    const waitMs = this.#checkAll();
    if (this.#timer !== null) this.#timer = setTimeout(() => this.#checkAndSchedule(), waitMs).unref();
  }

  /** Returns the time until the next check. */
  #checkAll(): number {
    const disks = new Map<number, DiskObserver[]>();
    for (const attempt of this.#attempts()) {
      const device = this.#deviceOf(attempt);
      if (device === null) continue;
      const observers = disks.get(device) ?? [];
      observers.push(attempt);
      disks.set(device, observers);
    }
    const free = [...disks.values()].map((attempts) => this.#checkDisk(attempts));
    return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, Math.min(...free) / MAX_BYTES_PER_MS));
  }

  /** Checks one disk for all its attempts. Returns its free bytes. */
  #checkDisk(attempts: readonly DiskObserver[]): number {
    const [first] = attempts;
    const device = first === undefined ? null : this.#deviceOf(first);
    const free = first === undefined ? null : this.#freeIn(first.folder);
    if (device === null || free === null) return Number.POSITIVE_INFINITY;
    const now = Date.now();
    const roomAt = this.#roomAt.get(device) ?? now;
    if (free >= FULL_BYTES) this.#roomAt.set(device, now);
    for (const attempt of attempts) {
      if (free >= FULL_BYTES) this.#notifyRoom(attempt, now);
      else attempt.diskIsFull(Math.max(roomAt, attempt.watchedAt), now);
    }
    return free;
  }

  #notifyRoom(attempt: DiskObserver, now: number): void {
    try {
      attempt.diskHasRoom(now);
    } catch (error) {
      this.#onTrouble(`writing a gap marker to the log of ${attempt.folder}`, error);
    }
  }

  /** Returns null for a directory that no longer exists. */
  #deviceOf(attempt: DiskObserver): number | null {
    const known = this.#devices.get(attempt) ?? statSync(attempt.folder, { throwIfNoEntry: false })?.dev;
    if (known !== undefined) this.#devices.set(attempt, known);
    return known ?? null;
  }
}

/** Returns null where the free space is unknown. Space reserved for root does not count. */
function freeBytes(folder: string): number | null {
  try {
    const { blocks, bavail, bsize } = statfsSync(folder);
    // Some network file systems report no sizes.
    return blocks === 0 ? null : bavail * bsize;
  } catch {
    return null;
  }
}

const NO_SPACE_ERRORS: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Reports whether a write failed because no space is left. */
export const isDiskFullError = (error: unknown): boolean =>
  NO_SPACE_ERRORS.has((error as NodeJS.ErrnoException | null)?.code);
