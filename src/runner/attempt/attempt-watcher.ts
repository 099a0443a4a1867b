/**
 * Watches all attempts, and runs the periodic work that serves all of them at once: the slow poll that backs up file
 * events, the sampling of usage, the memory limits, and the disk watch.
 */

import { DiskWatch } from '../log/disk-watch.ts';
import { readUnits } from '../process-tree/process-stat.ts';
import { readOomKills, SAMPLE_EVERY_MS, sampleAll } from './accounting.ts';
import type { Attempt, WatchOptions } from './attempt.ts';
import { MEMORY_CHECK_MS, MemoryWatch } from './memory-watch.ts';
import { WatchedAttempt } from './watched-attempt.ts';

export interface AttemptWatcherOptions {
  onTrouble(what: string, error: unknown): void;
  /** Called when no process of the attempt is left in its control group. */
  releaseCgroup(path: string): void;
}

export interface WatchSettings {
  readonly isAdopted: boolean;
  readonly cgroup: string | null;
  readonly options: WatchOptions;
}

/** Each attempt is polled once in this time, in case a file event was missed; each tick polls a quarter of them. */
const POLL_MS = 2_000;
const POLL_PARTS = 4;
/** Above this number, only every third round samples: a curve of 240 points needs no more. */
const MANY_ATTEMPTS = 50;
const OOM_FRESH_MS = 1_000;

export class AttemptWatcher {
  readonly #attempts = new Set<WatchedAttempt>();
  /** Pids of Longhaul itself, which never belong to an attempt. */
  readonly excludedPids = new Set([process.pid]);
  readonly #options: AttemptWatcherOptions;
  readonly #countOomKills = cached(readOomKills);
  readonly #units = readUnits();
  readonly #disk: DiskWatch;
  readonly #memory: MemoryWatch;
  /** Timers run only while attempts exist: an idle node does not wake up for them. */
  #timers: readonly NodeJS.Timeout[] = [];
  #part = 0;
  #round = 0;
  #isSampling = false;
  #isStopped = false;

  constructor(options: AttemptWatcherOptions) {
    this.#options = options;
    const attempts = () => [...this.#attempts].map(({ logGaps }) => logGaps);
    const onTrouble = (what: string, error: unknown): void => options.onTrouble(what, error);
    this.#disk = new DiskWatch({ attempts, onTrouble });
    this.#memory = new MemoryWatch(this.#units.pageBytes, onTrouble);
  }

  attempts(): readonly WatchedAttempt[] {
    return [...this.#attempts];
  }

  watch(folder: string, settings: WatchSettings): WatchedAttempt {
    const attempt = new WatchedAttempt({
      ...settings.options,
      folder,
      isAdopted: settings.isAdopted,
      cgroup: settings.cgroup,
      excludedPids: this.excludedPids,
      countOomKills: this.#countOomKills,
      checkDisk: (log) => this.#disk.check(log),
      isForeignSession: (session, asking) => this.#isForeignSession(session, asking),
      ...this.#options,
    });
    if (this.#isStopped) {
      attempt.close();
      return attempt;
    }
    this.#attempts.add(attempt);
    this.#startTimers();
    void attempt.end.then(() => this.#attempts.delete(attempt));
    attempt.watch();
    return attempt;
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimers();
    for (const attempt of this.#attempts) attempt.close();
    this.#attempts.clear();
  }

  #isForeignSession(session: number, asking: Attempt): boolean {
    for (const each of this.#attempts) if (each !== asking && each.leads(session)) return true;
    return false;
  }

  #startTimers(): void {
    if (this.#timers.length > 0) return;
    this.#disk.start();
    this.#timers = [
      setInterval(() => this.#poll(), POLL_MS / POLL_PARTS).unref(),
      setInterval(() => void this.#sample(), SAMPLE_EVERY_MS).unref(),
      setInterval(() => void this.#memory.check(this.attempts()), MEMORY_CHECK_MS).unref(),
    ];
  }

  #stopTimers(): void {
    this.#disk.stop();
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  #poll(): void {
    if (this.#attempts.size === 0) return this.#stopTimers();
    this.#part = (this.#part + 1) % POLL_PARTS;
    let index = 0;
    for (const attempt of this.#attempts) {
      if (index++ % POLL_PARTS === this.#part) attempt.poll();
    }
  }

  async #sample(): Promise<void> {
    const attempts = this.attempts().filter(({ pids }) => pids !== null);
    this.#round += 1;
    if (this.#isSampling || attempts.length === 0) return;
    if (attempts.length > MANY_ATTEMPTS && this.#round % 3 !== 0) return;
    this.#isSampling = true;
    try {
      const samples = await sampleAll(attempts, this.#units);
      for (const [attempt, sample] of samples) if (!attempt.isOver) attempt.addSample(sample);
    } catch (error) {
      this.#options.onTrouble('sampling the usage of attempts', error);
    } finally {
      this.#isSampling = false;
    }
  }
}

/** Caches a value for OOM_FRESH_MS. */
function cached<T>(read: () => T): () => T {
  let value: { readonly is: T; readonly at: number } | null = null;
  return () => {
    if (value === null || performance.now() - value.at > OOM_FRESH_MS) value = { is: read(), at: performance.now() };
    return value.is;
  };
}
