/**
 * Monitors the log of a running attempt: counts its lines into the index, and cuts it when it is too long.
 *
 * The script writes to the file directly and never waits for the monitor. The script has it open for appending, so its
 * output continues after the marker of a cut.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDiskFullError } from './disk-watch.ts';
import {
  addEntry,
  appendEntry,
  appendGap,
  entryBefore,
  type IndexEntry,
  type LogGap,
  type LogIndex,
  readLogIndex,
  replaceIndex,
  withGap,
} from './log-index.ts';

export interface LogState {
  readonly size: number;
  readonly generation: number;
}

export interface LogPaths {
  readonly log: string;
  readonly logIndex: string;
}

/**
 * An entry is added after so many bytes, or after so much time with any growth. Doubled each time the index is thinned.
 */
const SPACING = { bytes: 64 * 1024, ms: 1_000 };
/** Bytes counted per poll, so that a script that writes without end does not block the event loop. */
const BYTES_PER_POLL = 2 * 1024 * 1024;
/** Pause between two parts of the remaining count at the end. */
const REST_PAUSE_MS = 20;
const UNREFERENCED = { ref: false };
const SLICE_BYTES = 64 * 1024;
/** The part of the limit that a cut keeps. */
const HEAD_SHARE = 0.25;
const newline = 0x0a;

export class LogMonitor {
  readonly #paths: LogPaths;
  readonly #maxBytes: number;
  #index: LogIndex;
  #counted: number;
  #line: number;
  #density = 1;
  #size = 0;
  readonly #since: number;
  /** A full disk left the index file incomplete: it must be rewritten. */
  #isFileIncomplete = false;

  /** `since` is the start of the attempt. A small log of a short attempt needs no index. */
  constructor(paths: LogPaths, maxBytes: number, since = 0) {
    this.#paths = paths;
    this.#maxBytes = maxBytes;
    this.#since = since;
    this.#index = readLogIndex(paths.logIndex);
    const { offset, line } = entryBefore(this.#index, () => true);
    this.#counted = offset;
    this.#line = line;
  }

  get state(): LogState {
    return { size: this.#size, generation: this.#index.generation };
  }

  get gaps(): readonly LogGap[] {
    return this.#index.gaps;
  }

  addGap(gap: LogGap): void {
    this.#index = withGap(this.#index, gap);
    this.#save((path) => appendGap(path, gap));
  }

  /** Polls the log. Returns true when there is something new to read. */
  poll(now: number): boolean {
    const before = this.state;
    this.#size = statSync(this.#paths.log, { throwIfNoEntry: false })?.size ?? 0;
    if (this.#size < this.#counted) this.#wasTruncated();
    if (this.#size > this.#maxBytes) this.#cut(now);
    if (this.#isTimeForEntry(now)) this.#count(now);
    return this.#size !== before.size || this.#index.generation !== before.generation;
  }

  /**
   * Counts the rest of a log that grew faster than polls could count it, in parts, so that the event loop is not
   * blocked: a reader would have to count it for every page. For a log that no longer grows. An existing index is
   * extended to the end, so that the last lines have a time as well.
   */
  async countRest(now: number): Promise<void> {
    const least = (): number => (this.#index.entries.length > 0 ? 1 : SPACING.bytes);
    for (; this.#size - this.#counted >= least(); await sleep(REST_PAUSE_MS, null, UNREFERENCED)) {
      // The job may be deleted meanwhile, with all its files.
      if (statSync(this.#paths.log, { throwIfNoEntry: false })?.size !== this.#size) return;
      this.#count(now);
    }
  }

  #isTimeForEntry(now: number): boolean {
    const last = entryBefore(this.#index, () => true);
    const grown = this.#size - last.offset;
    return (
      grown >= SPACING.bytes * this.#density ||
      (grown > 0 && now - Math.max(last.at, this.#since) >= SPACING.ms * this.#density)
    );
  }

  #count(now: number): void {
    const file = openSync(this.#paths.log, 'r');
    const buffer = Buffer.allocUnsafe(SLICE_BYTES);
    const until = Math.min(this.#size, this.#counted + BYTES_PER_POLL);
    while (this.#counted < until) {
      const read = readSync(file, buffer, 0, Math.min(SLICE_BYTES, until - this.#counted), this.#counted);
      if (read === 0) break;
      this.#line += countLines(buffer, read);
      this.#counted += read;
    }
    closeSync(file);
    this.#add({ offset: this.#counted, line: this.#line, at: now });
  }

  #add(entry: IndexEntry): void {
    const { index, isThinned } = addEntry(this.#index, entry);
    this.#index = index;
    if (isThinned) this.#density *= 2;
    if (isThinned) this.#isFileIncomplete = true;
    this.#save((path) => appendEntry(path, entry));
  }

  /** The index only makes reading faster: a full disk must not keep an attempt from ending because of it. */
  #save(append: (path: string) => void): void {
    try {
      if (this.#isFileIncomplete) replaceIndex(this.#paths.logIndex, this.#index);
      else append(this.#paths.logIndex);
      this.#isFileIncomplete = false;
    } catch (error) {
      if (!isDiskFullError(error)) throw error;
      this.#isFileIncomplete = true;
    }
  }

  /** Another process truncated the log: a script that opens /dev/stderr by name does so unintentionally. */
  #wasTruncated(): void {
    this.#restart(0, this.#counted);
  }

  #cut(now: number): void {
    const { head, generation, dropped } = this.#index;
    const keep = Math.floor(this.#maxBytes * HEAD_SHARE);
    const cut = cutLog(this.#paths.log, {
      // From the second cut on, the head stays the same, and the old marker is dropped.
      headOf: (file) => (head > 0 ? head : endOfLineBefore(file, keep)),
      markerOf: (bytes) =>
        `[longhaul: ${dropped + bytes} bytes of output were dropped here, the last at ${new Date(now).toISOString()}, cut ${generation + 1}]\n`,
    });
    this.#restart(cut.head, cut.dropped);
    this.#size = statSync(this.#paths.log).size;
  }

  #restart(head: number, dropped: number): void {
    const before = this.#index;
    const entries = before.entries.filter(({ offset }) => offset <= head);
    this.#index = { ...before, generation: before.generation + 1, head, dropped: before.dropped + dropped, entries };
    const { offset, line } = entryBefore(this.#index, () => true);
    this.#counted = offset;
    this.#line = line;
    replaceIndex(this.#paths.logIndex, this.#index);
  }
}

function countLines(buffer: Buffer, length: number): number {
  let lines = 0;
  for (let at = buffer.indexOf(newline); at >= 0 && at < length; at = buffer.indexOf(newline, at + 1)) lines += 1;
  return lines;
}

interface Cut {
  readonly headOf: (file: number) => number;
  readonly markerOf: (dropped: number) => string;
}

/** Keeps complete lines at the beginning, and appends a marker. Output written meanwhile is lost with the rest. */
function cutLog(path: string, { headOf, markerOf }: Cut): { head: number; dropped: number } {
  const file = openSync(path, constants.O_RDWR | constants.O_APPEND);
  try {
    const head = headOf(file);
    const dropped = fstatSync(file).size - head;
    ftruncateSync(file, head);
    writeSync(file, markerOf(dropped));
    return { head, dropped };
  } finally {
    closeSync(file);
  }
}

function endOfLineBefore(file: number, offset: number): number {
  const from = Math.max(0, offset - SLICE_BYTES);
  const buffer = Buffer.allocUnsafe(offset - from);
  const read = readSync(file, buffer, 0, buffer.length, from);
  const at = buffer.subarray(0, read).lastIndexOf(newline);
  // A longer line is cut in its middle.
  return at < 0 ? offset : from + at + 1;
}
