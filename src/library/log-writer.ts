/**
 * Delivers the log of an attempt in the background: to a file, or to the store.
 *
 *     write ─▶ buffer ─▶ one batch at a time ─▶ sink        the buffer is full ─▶ gap: a marker takes the place of the output
 *
 * Invariant: `write` never waits, and the memory of a log is bounded. What does not fit is counted, and a marker in the
 * log says how much is missing and when. Invariant: bytes are delivered in order, each once, or not at all.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../core/ports/errors.ts';
import type { LostOutput } from '../core/ports/log-store.ts';

/** A place that takes the bytes of one log in order. */
export interface LogSink {
  /** The most bytes of one batch, and the pause between two of them, in which lines gather. */
  readonly batchBytes: number;
  readonly pauseMs: number;
  /** Delivers bytes. A call that failed is repeated with the same bytes. Returns false if nothing can be delivered any more. */
  append(bytes: Uint8Array, gap: LostOutput | null): Promise<boolean>;
  close(): Promise<void>;
}

export interface LogWriterOptions {
  /** Called once if output is lost. */
  onTrouble?(error: unknown): void;
  readonly maxBufferedBytes?: number;
  /** How long `close` waits for a sink that fails. */
  readonly closeMs?: number;
}

const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
const CLOSE_MS = 5_000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 2_000;
const newline = 0x0a;

interface Part {
  readonly bytes: Uint8Array;
  readonly gap: LostOutput | null;
}

interface Gap {
  readonly from: number;
  to: number;
  bytes: number;
}

export class LogWriter {
  readonly #open: () => LogSink;
  readonly #options: LogWriterOptions;
  #sink: LogSink | null = null;
  #parts: Part[] = [];
  #bufferedBytes = 0;
  #isLineOpen = false;
  #gap: Gap | null = null;
  /** The error of the last failed delivery. */
  #problem: unknown = null;
  #isRefused = false;
  #delivering: Promise<void> | null = null;
  readonly #closing = new AbortController();
  readonly #stopped = new AbortController();

  /** The sink is opened with the first write. */
  constructor(open: () => LogSink, options: LogWriterOptions = {}) {
    this.#open = open;
    this.#options = options;
  }

  /** Appends a line (a string; its newline is added), or bytes as they are. */
  write(text: string | Uint8Array): void {
    if (this.#isRefused || this.#closing.signal.aborted) return;
    const bytes = typeof text === 'string' ? this.#line(text) : Uint8Array.from(text);
    if (bytes.length === 0) return;
    if (this.#gap !== null && !this.#endGap()) return this.#lose(bytes.length);
    if (this.#bufferedBytes + bytes.length > (this.#options.maxBufferedBytes ?? MAX_BUFFERED_BYTES))
      return this.#lose(bytes.length);
    this.#push({ bytes, gap: null });
  }

  /** Resolves when everything is delivered, or cannot be within the time of `closeMs`. Never rejects. */
  async close(): Promise<void> {
    if (this.#gap !== null) this.#endGap({ evenIfFull: true });
    this.#closing.abort();
    await Promise.race([this.#delivering, pause(this.#options.closeMs ?? CLOSE_MS, this.#stopped.signal)]);
    this.#stopped.abort();
    const left = this.#bufferedBytes;
    if (left > 0) this.#report(`the last ${left} bytes of its log are lost`, this.#problem);
    await this.#sink?.close().catch((error: unknown) => this.#report('its log is not closed', error));
  }

  #report(what: string, cause: unknown): void {
    this.#options.onTrouble?.(new Error(what, { cause }));
  }

  /** A line stays a line of its own after output that has not ended its last one. */
  #line(text: string): Uint8Array {
    return Buffer.from(`${this.#isLineOpen ? '\n' : ''}${text}${text.endsWith('\n') ? '' : '\n'}`);
  }

  #push(part: Part): void {
    this.#parts.push(part);
    this.#bufferedBytes += part.bytes.length;
    this.#isLineOpen = part.bytes.at(-1) !== newline;
    this.#delivering ??= this.#deliver();
  }

  #lose(bytes: number): void {
    const now = Date.now();
    this.#gap ??= { from: now, to: now, bytes: 0 };
    this.#gap.to = now;
    this.#gap.bytes += bytes;
  }

  /** Puts a marker into the log as soon as half of the buffer is free. Returns whether the gap is over. */
  #endGap({ evenIfFull = false } = {}): boolean {
    const { maxBufferedBytes = MAX_BUFFERED_BYTES } = this.#options;
    if (this.#gap === null || (!evenIfFull && this.#bufferedBytes > maxBufferedBytes / 2)) return this.#gap === null;
    const { from, to, bytes } = this.#gap;
    this.#gap = null;
    this.#push({ bytes: this.#line(gapMarker({ from, to }, bytes)), gap: { from, to } });
    return true;
  }

  async #deliver(): Promise<void> {
    this.#sink ??= this.#open();
    for (let batch = this.#take(); batch !== null; batch = this.#take()) {
      if (!(await this.#deliverBatch(this.#sink, batch))) break;
      this.#bufferedBytes -= batch.bytes.length;
      await pause(this.#sink.pauseMs, this.#closing.signal);
    }
    this.#delivering = null;
    if (this.#isRefused) [this.#parts, this.#bufferedBytes] = [[], 0];
  }

  /** Returns false if the batch is lost. */
  async #deliverBatch(sink: LogSink, { bytes, gap }: Part): Promise<boolean> {
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(MAX_RETRY_MS, 2 * retryMs)) {
      if (this.#stopped.signal.aborted) return false;
      try {
        this.#isRefused = !(await sink.append(bytes, gap));
        return !this.#isRefused;
      } catch (error) {
        this.#problem = error;
        this.#isRefused = !isTransient(error);
        if (this.#isRefused) this.#report('its log cannot be written', error);
        if (this.#isRefused) return false;
        await pause(retryMs, this.#stopped.signal);
      }
    }
  }

  /** Takes the next batch; a marker begins one. */
  #take(): Part | null {
    const [first] = this.#parts;
    if (first === undefined) return null;
    const { batchBytes } = this.#sink as LogSink;
    let [count, size] = [1, first.bytes.length];
    for (let next = this.#parts[count]; next?.gap === null && size < batchBytes; next = this.#parts[count]) {
      count += 1;
      size += next.bytes.length;
    }
    const bytes = Buffer.concat(this.#parts.splice(0, count).map((part) => part.bytes));
    if (size > batchBytes) this.#parts.unshift({ bytes: bytes.subarray(batchBytes), gap: null });
    return { bytes: bytes.subarray(0, batchBytes), gap: first.gap };
  }
}

/** Resolves after the time, or at once when the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** ENOENT: the answer of a recursive mkdir of Node.js on a full disk. */
const TRANSIENT: ReadonlySet<unknown> = new Set([
  'store-unavailable',
  'store-full',
  'outcome-unknown',
  'ENOENT',
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'EMFILE',
  'ENFILE',
]);

/** Returns whether another try may succeed. */
function isTransient(error: unknown): boolean {
  return TRANSIENT.has(error instanceof LonghaulError ? error.code : (error as NodeJS.ErrnoException).code);
}

function gapMarker({ from, to }: LostOutput, bytes: number): string {
  const [start, end] = [new Date(from).toISOString(), new Date(to).toISOString()];
  return `[longhaul: ${bytes} bytes of output are missing here: between ${start} and ${end} they could not be written in time]`;
}
