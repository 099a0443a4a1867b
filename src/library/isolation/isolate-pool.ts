/**
 * The isolates of one worker: warm, reused, and replaced when they have run enough jobs, use too much memory or ended.
 *
 * There are never more than the worker has slots. Each job takes one, and returns it.
 */
import { Isolate } from './isolate.ts';
import type { OpenChannel } from './isolate-channel.ts';

export interface PoolOptions {
  /** The address of the module: `file:///app/encode.js`. */
  readonly address: string;
  readonly open: OpenChannel;
  /** An isolate that ran so many jobs is replaced. */
  readonly maxJobs: number;
  /** An isolate that uses more memory at the end of a job is replaced. */
  readonly maxBytes: number;
  onTrouble(what: string): void;
}

export class IsolatePool {
  readonly #options: PoolOptions;
  /** The most recently used is last, and is used first. */
  readonly #idle: Isolate[] = [];
  readonly #all = new Set<Isolate>();
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Starts the first isolate. Rejects with `bad-input` when the module cannot be used. */
  async open(): Promise<void> {
    const isolate = this.#start();
    this.#idle.push(isolate);
    await isolate.ready;
  }

  /** Returns an isolate that is ready now, or null. */
  takeWarm(): Isolate | null {
    const at = this.#idle.findLastIndex((each) => each.isReady && each.isUsable);
    return this.#idle.splice(at, at < 0 ? 0 : 1)[0] ?? null;
  }

  /** Waits for an isolate that is ready. Rejects when one cannot be started. */
  async take(): Promise<Isolate> {
    let isolate = this.#idle.pop();
    while (isolate !== undefined && !isolate.isUsable) isolate = this.#idle.pop();
    isolate ??= this.#start();
    await isolate.ready;
    return isolate;
  }

  giveBack(isolate: Isolate): void {
    const { maxJobs, maxBytes } = this.#options;
    const isSpent = isolate.jobs >= maxJobs || (Number.isFinite(maxBytes) && isolate.rssBytes > maxBytes);
    if (isolate.isUsable && isSpent) isolate.end();
    if (this.#isClosed) return isolate.isUsable ? isolate.end() : undefined;
    // The next job finds its successor started.
    this.#idle.push(isolate.isUsable ? isolate : this.#start());
  }

  /** Kills every isolate at once. */
  kill(): void {
    this.#isClosed = true;
    for (const isolate of this.#all) isolate.kill();
  }

  /** Ends the isolates of a worker without running attempts. Resolves when nothing of them is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const isolate of this.#all) if (isolate.isUsable) isolate.end();
    await Promise.all([...this.#all].map(({ ended }) => ended));
  }

  #start(): Isolate {
    const { address, open, onTrouble } = this.#options;
    const isolate = new Isolate(address, open);
    this.#all.add(isolate);
    void isolate.ended.then(({ left }) => {
      this.#all.delete(isolate);
      if (left > 0) onTrouble(`${left} processes or threads of ${address} could not be ended`);
    });
    return isolate;
  }
}
