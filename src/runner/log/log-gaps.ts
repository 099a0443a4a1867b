/**
 * Gaps in the log of an attempt. A script writes to its log directly, so a write that fails because the disk is full
 * leaves no trace. While the disk is full, a gap is open; when it has room again, a marker is written to the log.
 *
 *     room ──the disk is full──▶ open ──there is room: the marker is written──▶ room
 *
 * A marker means that output may be missing: no other process can know what a script failed to write.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { filesOf } from '../attempt/attempt-files.ts';
import { type DiskObserver, isDiskFullError } from './disk-watch.ts';
import type { LogGap } from './log-index.ts';

/** The parts of LogMonitor that gaps need. */
export interface GapsLog {
  readonly state: { readonly size: number };
  readonly gaps: readonly LogGap[];
  addGap(gap: LogGap): void;
}

/** Beyond this, the last gap grows instead of adding another. */
const MAX_GAPS = 100;
const NEWLINE = 0x0a;

export class LogGaps implements DiskObserver {
  readonly folder: string;
  readonly watchedAt = Date.now();
  readonly #log: GapsLog;
  #open: LogGap | null = null;

  constructor(folder: string, log: GapsLog) {
    this.folder = folder;
    this.#log = log;
  }

  /** All gaps, including the open one. */
  get all(): readonly LogGap[] {
    return this.#open === null ? this.#log.gaps : [...this.#log.gaps, this.#open];
  }

  /** Opens a gap, or extends the open one. The disk had room at `since`. */
  diskIsFull(since: number, now: number): void {
    const { from, offset } = this.#open ?? { from: since, offset: this.#log.state.size };
    this.#open = { from, to: now, offset };
  }

  /** Writes the marker. The gap stays open when there is no room for it after all. */
  diskHasRoom(now: number): void {
    try {
      this.mark(now);
    } catch (error) {
      if (!isDiskFullError(error)) throw error;
    }
  }

  /** Closes the open gap. Throws ENOSPC while there is no room for its marker. */
  mark(now: number): void {
    if (this.#open === null) return;
    try {
      this.#close({ ...this.#open, to: now });
      this.#open = null;
    } catch (error) {
      // A log that cannot be written for another reason is not retried.
      if (!isDiskFullError(error)) this.#open = null;
      throw error;
    }
  }

  #close(gap: LogGap): void {
    const { gaps } = this.#log;
    const last = gaps.at(-1);
    if (last !== undefined && gaps.length >= MAX_GAPS) return this.#log.addGap({ ...last, to: gap.to });
    appendMarker(filesOf(this.folder).log, gap);
    this.#log.addGap(gap);
  }
}

export function gapMarker({ from, to }: LogGap): string {
  const [start, end] = [new Date(from).toISOString(), new Date(to).toISOString()];
  return `[longhaul: the disk was full between ${start} and ${end}: output of that time may be missing here]\n`;
}

/** Appends the marker on a line of its own. A script without a log has no gap. */
function appendMarker(path: string, gap: LogGap): void {
  let file: number | null = null;
  try {
    file = openSync(path, constants.O_RDWR | constants.O_APPEND);
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1, NEWLINE);
    if (size > 0) readSync(file, last, 0, 1, size - 1);
    const marker = Buffer.from(`${last[0] === NEWLINE ? '' : '\n'}${gapMarker(gap)}`);
    for (let at = 0; at < marker.length; ) at += writeSync(file, marker, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    if (file !== null) closeSync(file);
  }
}
