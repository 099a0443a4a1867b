/**
 * Watches the free space on the disks under running attempts.
 *
 * The fuller a disk is, the more often it is looked at: again before it could fill up at the speed of a fast disk, but at
 * most every 50 ms. A disk that is full for a shorter time than that can go unseen.
 */
import { statfsSync, statSync } from 'node:fs';

/** The log of an attempt, as the watch sees it. */
export interface OnDisk {
  readonly folder: string;
  /** When this process began to watch it, epoch ms. */
  readonly watchedAt: number;
  /** The disk is full, and had room at `since`. */
  diskIsFull(since: number, now: number): void;
  diskHasRoom(now: number): void;
}

export interface DiskWatchOptions {
  attempts(): Iterable<OnDisk>;
  onTrouble(what: string, error: unknown): void;
  /** The free bytes on the disk of a folder; null where they are not known. */
  readonly freeIn?: (folder: string) => number | null;
}

/** File systems refuse a write before their last bytes are used. */
const FULL_BYTES = 64 * 1024;
const SHORTEST_MS = 50;
const LONGEST_MS = 1_000;
const FASTEST_BYTES_A_MS = 2_000_000;

export class DiskWatch {
  readonly #attempts: () => Iterable<OnDisk>;
  readonly #freeIn: (folder: string) => number | null;
  readonly #onTrouble: DiskWatchOptions['onTrouble'];
  /** When each disk was last seen with room, by its device. */
  readonly #roomAt = new Map<number, number>();
  readonly #devices = new WeakMap<OnDisk, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor({ attempts, onTrouble, freeIn = freeBytes }: DiskWatchOptions) {
    this.#attempts = attempts;
    this.#onTrouble = onTrouble;
    this.#freeIn = freeIn;
  }

  start(): void {
    this.#timer ??= setTimeout(() => this.#lookAndGoOn(), this.#lookAtAll()).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#roomAt.clear();
  }

  /** Looks at the disk of one attempt now: at its end, which may come before the next look. */
  lookAt(attempt: OnDisk): void {
    this.#judge([attempt]);
  }

  #lookAndGoOn(): void {
    const waitMs = this.#lookAtAll();
    if (this.#timer !== null) this.#timer = setTimeout(() => this.#lookAndGoOn(), waitMs).unref();
  }

  /** Returns when to look again. */
  #lookAtAll(): number {
    const disks = new Map<number, OnDisk[]>();
    for (const attempt of this.#attempts()) {
      const device = this.#deviceOf(attempt);
      if (device === null) continue;
      const together = disks.get(device) ?? [];
      together.push(attempt);
      disks.set(device, together);
    }
    const free = [...disks.values()].map((attempts) => this.#judge(attempts));
    return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, Math.min(...free) / FASTEST_BYTES_A_MS));
  }

  /** All of them on one disk. Returns its free bytes. */
  #judge(attempts: readonly OnDisk[]): number {
    const [first] = attempts;
    const device = first === undefined ? null : this.#deviceOf(first);
    const free = first === undefined ? null : this.#freeIn(first.folder);
    if (device === null || free === null) return Number.POSITIVE_INFINITY;
    const now = Date.now();
    const roomAt = this.#roomAt.get(device) ?? now;
    if (free >= FULL_BYTES) this.#roomAt.set(device, now);
    for (const attempt of attempts) {
      if (free >= FULL_BYTES) this.#tellRoom(attempt, now);
      else attempt.diskIsFull(Math.max(roomAt, attempt.watchedAt), now);
    }
    return free;
  }

  #tellRoom(attempt: OnDisk, now: number): void {
    try {
      attempt.diskHasRoom(now);
    } catch (error) {
      this.#onTrouble(`marking a gap in the log of ${attempt.folder}`, error);
    }
  }

  /** Null for a folder that is gone. */
  #deviceOf(attempt: OnDisk): number | null {
    const known = this.#devices.get(attempt) ?? statSync(attempt.folder, { throwIfNoEntry: false })?.dev;
    if (known !== undefined) this.#devices.set(attempt, known);
    return known ?? null;
  }
}

/** Null where nothing is known. Free for ordinary users: what is kept for root is not counted. */
function freeBytes(folder: string): number | null {
  try {
    const { blocks, bavail, bsize } = statfsSync(folder);
    // Some file systems of the network tell no sizes at all.
    return blocks === 0 ? null : bavail * bsize;
  } catch {
    return null;
  }
}

const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether a write failed because there is no space left. */
export const isNoRoom = (error: unknown): boolean => NO_ROOM.has((error as NodeJS.ErrnoException | null)?.code);
