/**
 * Gaps in the log of an attempt. A script writes to its log directly, so a write that fails because the disk is full
 * leaves no trace in it. While the disk is seen full a gap is open; with the first sight of room it is marked in the log.
 *
 *     room ──the disk is full──▶ open ──there is room: the mark is written──▶ room
 *
 * A mark says that output may be missing, not that it is: no other process can know what a script failed to write.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { filesOf } from '../attempt/attempt-files.ts';
import { isNoRoom, type OnDisk } from './disk-watch.ts';
import type { LogGap } from './log-index.ts';

/** The parts of LogMonitor that gaps need. */
export interface GapsLog {
  readonly state: { readonly size: number };
  readonly gaps: readonly LogGap[];
  addGap(gap: LogGap): void;
}

/** On a disk that fills up again and again the last gap grows instead. */
const MAX_GAPS = 100;
const NEWLINE = 0x0a;

export class LogGaps implements OnDisk {
  readonly folder: string;
  readonly watchedAt = Date.now();
  readonly #log: GapsLog;
  #open: LogGap | null = null;

  /** Of the attempt in this folder. */
  constructor(folder: string, log: GapsLog) {
    this.folder = folder;
    this.#log = log;
  }

  /** With the one that is open, if there is one. */
  get all(): readonly LogGap[] {
    return this.#open === null ? this.#log.gaps : [...this.#log.gaps, this.#open];
  }

  /** The disk is full now, and had room at `since`. */
  diskIsFull(since: number, now: number): void {
    const { from, offset } = this.#open ?? { from: since, offset: this.#log.state.size };
    this.#open = { from, to: now, offset };
  }

  /** The gap stays open when there is no room for its mark after all. */
  diskHasRoom(now: number): void {
    try {
      this.mark(now);
    } catch (error) {
      if (!isNoRoom(error)) throw error;
    }
  }

  /** Ends the gap that is open. Throws ENOSPC while there is no room for its mark. */
  mark(now: number): void {
    if (this.#open === null) return;
    try {
      this.#close({ ...this.#open, to: now });
      this.#open = null;
    } catch (error) {
      // A log that cannot be written for another reason is not tried again.
      if (!isNoRoom(error)) this.#open = null;
      throw error;
    }
  }

  #close(gap: LogGap): void {
    const { gaps } = this.#log;
    const last = gaps.at(-1);
    if (last !== undefined && gaps.length >= MAX_GAPS) return this.#log.addGap({ ...last, to: gap.to });
    appendMark(filesOf(this.folder).log, gap);
    this.#log.addGap(gap);
  }
}

export function markOf({ from, to }: LogGap): string {
  const [start, end] = [new Date(from).toISOString(), new Date(to).toISOString()];
  return `[longhaul: the disk was full between ${start} and ${end}: output of that time may be missing here]\n`;
}

/** On a line of its own, where the last line was cut short. A script that opened no log has no gap in it. */
function appendMark(path: string, gap: LogGap): void {
  let file: number | null = null;
  try {
    file = openSync(path, constants.O_RDWR | constants.O_APPEND);
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1, NEWLINE);
    if (size > 0) readSync(file, last, 0, 1, size - 1);
    const mark = Buffer.from(`${last[0] === NEWLINE ? '' : '\n'}${markOf(gap)}`);
    for (let at = 0; at < mark.length; ) at += writeSync(file, mark, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    if (file !== null) closeSync(file);
  }
}
