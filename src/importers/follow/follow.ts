/**
 * A live bridge: keeps moving the waiting entries of another system into the store, so that its producers go on while the
 * workers move. Each entry becomes one job; held-entries.ts says why.
 *
 * It takes only what it can deliver: the next entries are taken when none is held. While the source or the store is
 * unavailable it waits and tries again.
 */
import { track } from '../../core/job/tracked-jobs.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { deletedQueues } from '../../core/settings/delete-queue.ts';
import { findSchedule } from '../../schedules/schedule-records.ts';
import type { ForeignJob, ForeignKeys } from '../foreign-job.ts';
import { addSchedule, parentsFirst } from '../import-jobs.ts';
import { importSettings } from '../import-settings.ts';
import { asDraft, heldBy, inChunks, problemIn, withReason } from './entry-jobs.ts';
import type { Converted, FollowSystem } from './follow-systems.ts';
import type { HeldEntry } from './held-entries.ts';
import { HeldEntries, LOCK_MS, lockHolder, lockLost } from './held-entries.ts';

export interface Source {
  readonly keys: ForeignKeys;
  run(script: string, args: readonly string[]): Promise<unknown>;
  close(): void;
}

export interface FollowOptions {
  readonly system: FollowSystem;
  /** Called again after the connection was lost. */
  open(): Promise<Source>;
  readonly store: Store;
  /** Names this bridge: host, pid and a random part, without spaces. */
  readonly owner: string;
  readonly newName: () => string;
  readonly now: () => number;
  readonly signal: AbortSignal;
  onMoved(moved: FollowCounts): void;
  onNotice(text: string): void;
}

export interface FollowCounts {
  readonly jobs: number;
  readonly schedules: number;
  readonly rejected: number;
  /** Jobs by queue. */
  readonly queues: Readonly<Record<string, number>>;
}

const LIMIT = 200;
const POLL_MS = 250;
const RETRY_MS = 1_000;
const DISCOVER_MS = 2_000;
/** Below the time after which a draft expires. */
const DRAFT_SAFE_MS = 6 * 86_400_000;
/** Errors and refusals after which the same call can succeed later. */
const TRANSIENT: readonly string[] = ['store-unavailable', 'outcome-unknown', 'store-full'];
const PASSING: readonly string[] = ['queue-down', 'store-moving', 'key-taken'];

/** Moves entries until the signal is aborted. Returns what was moved. */
export async function follow(options: FollowOptions): Promise<FollowCounts> {
  const bridge = new Bridge(options);
  try {
    await bridge.acquire();
    while (!options.signal.aborted) {
      const isIdle = await bridge.round().catch((error: unknown) => bridge.recover(error));
      if (isIdle) await pause(POLL_MS, options.signal);
    }
  } finally {
    await bridge.end();
  }
  return bridge.counts;
}

class Bridge {
  readonly #options: FollowOptions;
  readonly #held: HeldEntries;
  readonly #queues: Record<string, number> = {};
  readonly #reported = new Set<string>();
  #source: Source | null = null;
  #name = '';
  #args: readonly string[] | null = null;
  #discoveredAt = Number.NEGATIVE_INFINITY;
  #counts = { jobs: 0, schedules: 0, rejected: 0 };
  #isAway = false;
  #lastNotice = '';

  constructor(options: FollowOptions) {
    this.#options = options;
    const { system, owner, now } = options;
    const scripts = { run: async (script: string, args: readonly string[]) => (await this.#open()).run(script, args) };
    this.#held = new HeldEntries({ scripts, key: system.key, owner, now });
  }

  get counts(): FollowCounts {
    return { ...this.#counts, queues: { ...this.#queues } };
  }

  /** Takes the lock. One that a killed bridge left ends by itself; another bridge renews its own. */
  async acquire(): Promise<void> {
    const { now, signal } = this.#options;
    const deadline = now() + 2 * LOCK_MS;
    for (let holder = await this.#held.lock(); holder !== null; holder = await this.#held.lock()) {
      if (signal.aborted) return;
      if (now() >= deadline) throw lockLost(holder);
      this.#say(`${holder} follows this source, or was killed: waiting for its lock`);
      await pause(POLL_MS, signal);
    }
    this.#name = await this.#held.name(this.#options.newName());
  }

  /** Delivers what is held, then takes more. Returns whether there was nothing to do. */
  async round(): Promise<boolean> {
    const { system, now, onMoved } = this.#options;
    const before = this.#counts;
    const isDelivered = await this.#deliver(await this.#held.list());
    if (this.#isAway) this.#say('connected again');
    this.#isAway = false;
    if (isDelivered) this.#lastNotice = '';
    if (this.#args === null) await this.#copySettings();
    if (now() - this.#discoveredAt >= DISCOVER_MS) {
      this.#args = await system.takeArgs((await this.#open()).keys);
      this.#discoveredAt = now();
    }
    const taken = isDelivered ? await this.#held.take(system.take, [String(LIMIT), ...(this.#args ?? [])]) : 0;
    if (this.#counts !== before) onMoved(this.counts);
    return taken === 0;
  }

  /** Settings that exist here stay unchanged. */
  async #copySettings(): Promise<void> {
    const { system, store, onNotice } = this.#options;
    const unmapped: string[] = [];
    await importSettings(await system.settings((await this.#open()).keys), { store, isDryRun: false }, unmapped);
    for (const reason of unmapped) onNotice(`not copied: ${reason}`);
  }

  /** Waits after a passing error, and rethrows any other. Returns that there is nothing to do now. */
  async recover(error: unknown): Promise<boolean> {
    const holder = lockHolder(error);
    if (holder !== null) throw lockLost(holder);
    if (!(error instanceof LonghaulError) || !TRANSIENT.includes(error.code)) throw error;
    if (!this.#isAway) this.#say(`${error.message}; trying again`);
    this.#isAway = true;
    this.#close();
    await pause(RETRY_MS, this.#options.signal);
    return true;
  }

  /** Ends in good order: the next bridge need not wait for the lock. */
  async end(): Promise<void> {
    // An error here changes nothing: the lock ends by itself.
    await this.#held.unlock().catch(() => undefined);
    this.#close();
  }

  /** Prints a notice, unless it was the last one. */
  #say(text: string): void {
    if (text !== this.#lastNotice) this.#options.onNotice(text);
    this.#lastNotice = text;
  }

  /** Returns whether nothing is held any more but what was rejected. */
  async #deliver(entries: readonly HeldEntry[]): Promise<boolean> {
    this.#report(entries.filter(({ phase }) => phase === 'rejected'));
    const taken = entries.filter(({ phase }) => phase === 'taken');
    const sorted = await this.#sort(taken);
    const added = await this.#addDrafts(sorted.jobs);
    await this.#addSchedules(sorted.schedules);
    await this.#reject([...sorted.rejected, ...added.refused]);
    const ready = [
      ...entries.filter(({ phase }) => phase === 'added'),
      ...(await this.#held.change(added.drafts, 'added')),
    ];
    const isCommitted = await this.#commit(ready);
    return isCommitted && added.drafts.length + added.refused.length === sorted.jobs.length;
  }

  async #sort(taken: readonly HeldEntry[]) {
    const deleted = taken.length === 0 ? new Set<string>() : await deletedQueues(this.#options.store);
    const jobs: { held: HeldEntry; job: ForeignJob }[] = [];
    const schedules: { held: HeldEntry; made: Extract<Converted, { kind: 'schedule' }> }[] = [];
    const rejected: HeldEntry[] = [];
    for (const held of taken) {
      const made = this.#convert(held);
      const problem = problemIn(made, deleted);
      if (problem !== null) rejected.push(withReason(held, problem));
      else if (made.kind === 'job') jobs.push({ held, job: made.job });
      else if (made.kind === 'schedule') schedules.push({ held, made });
    }
    return { jobs, schedules, rejected };
  }

  #convert({ entry, number }: HeldEntry): Converted {
    return this.#options.system.convert(entry, `${this.#name}-${number}`);
  }

  /** Adds drafts, which no worker can claim. A queue that accepts no jobs now keeps its entries held. */
  async #addDrafts(jobs: readonly { held: HeldEntry; job: ForeignJob }[]) {
    const { store } = this.#options;
    const { ordered, cyclic } = parentsFirst(jobs.map(({ job }) => job));
    const heldOf = new Map(jobs.map(({ held, job }) => [job.id, held]));
    const [drafts, refused]: [HeldEntry[], HeldEntry[]] = [[], []];
    for (const { id } of cyclic) refused.push(withReason(heldBy(heldOf, id), 'its dependencies form a cycle'));
    const answers = await inChunks(ordered, (chunk) => store.jobs.add(chunk.map(asDraft)));
    for (const [at, answer] of answers.entries()) {
      const held = heldBy(heldOf, ordered[at]?.id ?? '');
      if (answer.ok) drafts.push(held);
      else if (PASSING.includes(answer.refusal.code)) this.#say(`${answer.refusal.message}; trying again`);
      else refused.push(withReason(held, answer.refusal.message));
    }
    return { drafts, refused };
  }

  async #addSchedules(found: readonly { held: HeldEntry; made: Extract<Converted, { kind: 'schedule' }> }[]) {
    const { store } = this.#options;
    for (const { made } of found)
      if ((await findSchedule(store.records, made.schedule.name)) === null) await addSchedule(store, made.schedule);
    await this.#held.remove(found.map(({ held }) => held));
    if (found.length > 0) this.#counts = { ...this.#counts, schedules: this.#counts.schedules + found.length };
  }

  async #reject(entries: readonly HeldEntry[]): Promise<void> {
    if (entries.length === 0) return;
    this.#report(await this.#held.change(entries, 'rejected'));
  }

  /** Says once what is kept in the source, and why. */
  #report(rejected: readonly HeldEntry[]): void {
    const { onNotice, system } = this.#options;
    for (const { number, entry } of rejected) {
      if (this.#reported.has(number)) continue;
      this.#reported.add(number);
      this.#counts = { ...this.#counts, rejected: this.#counts.rejected + 1 };
      onNotice(`not moved: ${String(entry['reason'])} (entry ${number} of the key ${system.key})`);
    }
  }

  /**
   * Commits drafts, and removes their entries. A draft that is gone was committed before, and its job has ended and was
   * deleted. Returns whether none is left.
   */
  async #commit(ready: readonly HeldEntry[]): Promise<boolean> {
    if (ready.length === 0) return true;
    const { store, system, now } = this.#options;
    const jobs = ready.flatMap((held) => {
      const made = this.#convert(held);
      return made.kind === 'job' ? [{ held, ...made }] : [];
    });
    const answers = await inChunks(jobs, (chunk) => store.jobs.commit(chunk.map(({ job }) => job.id)));
    const refusals = answers.map((answer) => (answer.ok ? null : answer.refusal));
    const left = jobs.filter((_, at) => PASSING.includes(refusals[at]?.code ?? ''));
    const expired = jobs.filter(
      ({ held }, at) => refusals[at]?.code === 'not-found' && now() - held.at > DRAFT_SAFE_MS,
    );
    for (const refusal of refusals)
      if (PASSING.includes(refusal?.code ?? '')) this.#say(`${refusal?.message}; trying again`);
    await this.#reject(
      expired.map(({ held, job }) => withReason(held, `draft ${job.id} is gone: it may have expired`)),
    );
    const moved = jobs.filter((each) => !expired.includes(each) && !left.includes(each));
    for (const { job, isTracked } of moved) if (isTracked === true) await track(store, job.id);
    await this.#held.remove(
      moved.map(({ held }) => held),
      moved.flatMap(({ held }) => system.endedKeys(held.entry)),
    );
    for (const { job } of moved) this.#queues[job.queue] = (this.#queues[job.queue] ?? 0) + 1;
    this.#counts = { ...this.#counts, jobs: this.#counts.jobs + moved.length };
    return left.length === 0;
  }

  async #open(): Promise<Source> {
    this.#source ??= await this.#options.open();
    return this.#source;
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
  }
}

/** Waits, or until the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
