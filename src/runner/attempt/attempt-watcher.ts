/**
 * All attempts that are watched, and the chores that are done for all of them at once: the slow look that is the net
 * under the file events, and the sampling of what they use.
 */

import { DiskWatch } from '../log/disk-watch.ts';
import { readUnits } from '../process-tree/process-stat.ts';
import { readOomKills, SAMPLE_EVERY_MS, sampleAll } from './accounting.ts';
import type { Attempt, WatchOptions } from './attempt.ts';
import { WatchedAttempt } from './watched-attempt.ts';

export interface RosterOptions {
  onTrouble(what: string, error: unknown): void;
  /** Nothing of its attempt is left. */
  releaseCgroup(path: string): void;
}

export interface HowToWatch {
  readonly isAdopted: boolean;
  readonly cgroup: string | null;
  readonly options: WatchOptions;
}

/** All attempts are looked at once in this time, a part of them each quarter, in case no event told of a change. */
const POLL_MS = 2_000;
const POLL_PARTS = 4;
/** So many attempts are sampled in every third round only: a curve of 240 points needs no more. */
const MANY_ATTEMPTS = 50;
const OOM_FRESH_MS = 1_000;

export class Roster {
  readonly #attempts = new Set<WatchedAttempt>();
  /** Processes of Longhaul itself. */
  readonly spared = new Set([process.pid]);
  readonly #options: RosterOptions;
  readonly #countOomKills = createFreshReader(readOomKills);
  readonly #units = readUnits();
  readonly #disk: DiskWatch;
  /** Only while there are attempts: a node that has nothing to do need not wake up for them. */
  #chores: readonly NodeJS.Timeout[] = [];
  #part = 0;
  #round = 0;
  #isSampling = false;
  #isStopped = false;

  constructor(options: RosterOptions) {
    this.#options = options;
    const attempts = () => [...this.#attempts].map(({ logGaps }) => logGaps);
    this.#disk = new DiskWatch({ attempts, onTrouble: (what, error) => options.onTrouble(what, error) });
  }

  attempts(): readonly WatchedAttempt[] {
    return [...this.#attempts];
  }

  watch(folder: string, how: HowToWatch): WatchedAttempt {
    const attempt = new WatchedAttempt({
      ...how.options,
      folder,
      isAdopted: how.isAdopted,
      cgroup: how.cgroup,
      spared: this.spared,
      countOomKills: this.#countOomKills,
      lookAtDisk: (log) => this.#disk.lookAt(log),
      isElsewhere: (session, asking) => this.#isElsewhere(session, asking),
      ...this.#options,
    });
    if (this.#isStopped) {
      attempt.close();
      return attempt;
    }
    this.#attempts.add(attempt);
    this.#begin();
    void attempt.end.then(() => this.#attempts.delete(attempt));
    attempt.watch();
    return attempt;
  }

  stop(): void {
    this.#isStopped = true;
    this.#rest();
    for (const attempt of this.#attempts) attempt.close();
    this.#attempts.clear();
  }

  #isElsewhere(session: number, asking: Attempt): boolean {
    for (const each of this.#attempts) if (each !== asking && each.leads(session)) return true;
    return false;
  }

  #begin(): void {
    if (this.#chores.length > 0) return;
    this.#disk.start();
    this.#chores = [
      setInterval(() => this.#poll(), POLL_MS / POLL_PARTS).unref(),
      setInterval(() => void this.#sample(), SAMPLE_EVERY_MS).unref(),
    ];
  }

  #rest(): void {
    this.#disk.stop();
    for (const chore of this.#chores) clearInterval(chore);
    this.#chores = [];
  }

  #poll(): void {
    if (this.#attempts.size === 0) return this.#rest();
    this.#part = (this.#part + 1) % POLL_PARTS;
    let index = 0;
    for (const attempt of this.#attempts) {
      if (index++ % POLL_PARTS === this.#part) attempt.look();
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
      this.#options.onTrouble('sampling what attempts use', error);
    } finally {
      this.#isSampling = false;
    }
  }
}

/** A value that is read again only when it is older than a moment. */
function createFreshReader<T>(read: () => T): () => T {
  let value: { readonly is: T; readonly at: number } | null = null;
  return () => {
    if (value === null || performance.now() - value.at > OOM_FRESH_MS) value = { is: read(), at: performance.now() };
    return value.is;
  };
}
