/**
 * Twenty schedules over three nodes for a year, with nodes that die between deciding and adding, hours without any
 * node, and both changes of daylight saving: every run time is handled by its policy, none twice.
 *
 * The expected outcome of each run time is computed independently, after docs/scheduling.md (`Expectation`), from the
 * times at which nodes checked and jobs ended. Only the run times themselves come from the rule, which has a test of
 * its own.
 */
import { expect, it } from 'vitest';
import { isEnded, isRunning, type RunningJob } from '../../src/core/job/job.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { fireAt, nextRunTime, runTimeText, type Schedule } from '../../src/core/schedules/schedule.ts';
import type { ScheduleInput } from '../../src/core/schedules/schedule-input.ts';
import { nextRunAt } from '../../src/core/schedules/schedule-plan.ts';
import type { StoredSchedule } from '../../src/core/schedules/schedule-record.ts';
import { fireSchedule } from '../../src/schedules/fire-schedule.ts';
import { setSchedule } from '../../src/schedules/manage-schedules.ts';
import { listSchedules } from '../../src/schedules/schedule-records.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { openRandom, type SeededRandom } from '../faults/seeded-random.ts';
import { testSize } from '../support/test-size.ts';
import { Workbench } from './workbench.ts';

const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1_000, 60_000, 3_600_000, 86_400_000];

/** A schedule, and how long its jobs take. */
const SCHEDULES: readonly (readonly [Omit<ScheduleInput, 'queue'>, number])[] = [
  [{ cron: '30 2 * * *', zone: 'Europe/Berlin' }, 5 * MINUTE_MS],
  [{ cron: '30 2 * * *', zone: 'America/New_York', overlap: 'allow', backlog: null, catchUp: '3d' }, HOUR_MS],
  [{ cron: '15 1 * * *', zone: 'America/New_York', overlap: 'queue', backlog: 2 }, 3 * HOUR_MS],
  [{ cron: '*/20 1-3 * * *', zone: 'Europe/Berlin', overlap: 'skip' }, 30 * MINUTE_MS],
  [{ cron: '0 * * * *', zone: 'Europe/Berlin', overlap: 'allow', backlog: null, catchUp: '2d' }, 10 * MINUTE_MS],
  [{ cron: '0 * * * *', zone: 'America/New_York', overlap: 'skip', catchUp: 0 }, 90 * MINUTE_MS],
  [{ cron: '45 * * * *', zone: 'Australia/Lord_Howe', overlap: 'replace' }, 100 * MINUTE_MS],
  [{ cron: '0 */3 * * *', zone: 'Asia/Kolkata', overlap: 'queue', backlog: 1 }, 4 * HOUR_MS],
  [{ cron: '0 9 * * MON-FRI', zone: 'Europe/Lisbon', jitter: '20m' }, MINUTE_MS],
  [{ cron: '0 0 1,15 * *', zone: 'Pacific/Auckland' }, DAY_MS],
  [{ cron: '0 0 L * *', zone: 'America/Santiago', overlap: 'allow' }, DAY_MS],
  [{ cron: '0 6 * * SUN#1', zone: 'Europe/Berlin', overlap: 'replace', catchUp: '7d' }, DAY_MS],
  [{ cron: '0 2 * * SUN', zone: 'Europe/Berlin', overlap: 'queue', backlog: 3, catchUp: '7d' }, 2 * DAY_MS],
  [{ cron: '59 23 31 12 *', zone: 'UTC', overlap: 'allow' }, MINUTE_MS],
  [{ every: '30m', offset: '7m', overlap: 'skip', jitter: '5m' }, 20 * MINUTE_MS],
  [{ every: '1h', overlap: 'queue', backlog: 3 }, 70 * MINUTE_MS],
  [{ every: '5h', overlap: 'replace', catchUp: '1h' }, 6 * HOUR_MS],
  [{ every: '1d', offset: '13h', overlap: 'allow', backlog: 2, catchUp: '2d' }, HOUR_MS],
  [{ every: '45m', overlap: 'allow', catchUp: '10m', ids: 'count' }, 50 * MINUTE_MS],
  [{ every: '7d', from: '2026-01-05T00:00:00Z', until: '2026-12-01T00:00:00Z' }, HOUR_MS],
];

/** The expected outcomes of one schedule's run times, in their plainest form. */
class Expectation {
  readonly ids: string[] = [];
  readonly #first: Schedule;
  #decided: number;
  #queue: number[] = [];

  constructor(schedule: Schedule) {
    this.#first = schedule;
    this.#decided = schedule.mark;
  }

  /** Somebody looks, and the policy is done by what is due. `isFree`: every job so far has ended. */
  check(now: number, isFree: boolean): void {
    const { overlap, backlog, catchUpMs } = this.#first.definition;
    const due = this.#due(now).filter((slot) => fireAt(this.#first, slot) >= now - Math.max(catchUpMs, 10 * SECOND_MS));
    const kept = backlog === null ? due : due.slice(-backlog);
    if (overlap === 'allow') this.#make(...kept);
    if (overlap === 'skip' && isFree) this.#make(...kept.slice(0, 1));
    if (overlap === 'replace') this.#wait(kept.slice(-1), { isFree, room: 1, isLatestFirst: true });
    if (overlap === 'queue') this.#wait(kept, { isFree, room: backlog ?? 1_000, isLatestFirst: false });
  }

  #wait(slots: readonly number[], how: { isFree: boolean; room: number; isLatestFirst: boolean }): void {
    this.#queue.push(...slots);
    if (how.isLatestFirst) this.#queue = this.#queue.slice(-1);
    const next = how.isFree ? this.#queue.shift() : undefined;
    if (next !== undefined) this.#make(next);
    this.#queue = this.#queue.slice(-how.room);
  }

  #due(now: number): number[] {
    const due: number[] = [];
    for (let slot = nextRunTime(this.#first.definition, this.#decided); slot !== null; ) {
      if (fireAt(this.#first, slot) > now) break;
      due.push(slot);
      slot = nextRunTime(this.#first.definition, slot);
    }
    this.#decided = due.at(-1) ?? this.#decided;
    return due;
  }

  #make(...slots: readonly number[]): void {
    const { name, definition } = this.#first;
    for (const slot of slots)
      this.ids.push(definition.ids === 'slot' ? `${name}@${runTimeText(slot)}` : `${name}-${this.ids.length + 1}`);
  }
}

/**
 * The simulation: one store, three nodes, workers that always have room, and a clock that jumps from event to event.
 */
class World {
  readonly bench = new Workbench(openMemoryStore({ clock: 'caller' }));
  readonly expected = new Map<string, Expectation>();
  /** By schedule, in the order in which the store says that it took them in. */
  readonly made = new Map<string, string[]>();
  deaths = 0;
  outages = 0;
  readonly #random: SeededRandom;
  readonly #store: Store;
  readonly #durations = new Map<string, number>();
  readonly #running = new Map<string, { readonly job: RunningJob; readonly endsAt: number }>();
  readonly #open = new Map<string, Set<string>>();
  /** Until when each of the nodes is away. */
  readonly #away = [0, 0, 0];
  #nextOutage: number;

  constructor(random: SeededRandom, from: number) {
    this.#random = random;
    this.bench.now = from;
    const { store, jobs, records } = this.bench;
    this.#store = { ...store, records, jobs: { ...jobs, add: (added) => this.#add(added) } };
    this.#nextOutage = from + random.between(HOUR_MS, DAY_MS);
  }

  async define(): Promise<void> {
    for (const [index, [input, duration]] of SCHEDULES.entries()) {
      const name = `s${index}`;
      const { schedule } = await setSchedule(this.#store, name, { ...input, queue: 'q' });
      this.expected.set(name, new Expectation(schedule));
      this.#durations.set(name, duration);
      this.made.set(name, []);
      this.#open.set(name, new Set());
    }
  }

  /** What a node that died has decided is owed, also when the time is over. */
  async run(until: number): Promise<void> {
    while (this.bench.now < until || (this.bench.now < until + DAY_MS && (await this.#isOwing()))) {
      await this.#passTime();
      await this.#endJobs();
      for (let rounds = 0; (await this.#round()) && rounds < 20; rounds++);
      await this.#claim();
    }
  }

  async #isOwing(): Promise<boolean> {
    return (await listSchedules(this.#store.records)).some(({ schedule }) => schedule.pending.length > 0);
  }

  /** To the next slot, the end of a job, or the return of a node; a little late, as real ones are. */
  async #passTime(): Promise<void> {
    const { now } = this.bench;
    const kept = await listSchedules(this.#store.records);
    const slots = kept.map(({ schedule, updatedAt }) =>
      schedule.pending.length > 0 ? updatedAt + 5 * SECOND_MS : (nextRunAt(schedule) ?? Infinity),
    );
    const ends = [...this.#running.values()].map(({ endsAt }) => endsAt);
    const next = Math.max(Math.min(...slots, ...ends, now + 6 * HOUR_MS), now + SECOND_MS);
    if (next >= this.#nextOutage) this.#outage(next);
    this.bench.now = Math.max(next, Math.min(...this.#away)) + this.#random.between(0, 2 * SECOND_MS);
  }

  /** Hours, or a day and more, in which no node is there. */
  #outage(at: number): void {
    this.outages += 1;
    this.#away.fill(at + this.#random.between(HOUR_MS, 30 * HOUR_MS));
    this.#nextOutage = (this.#away[0] ?? at) + this.#random.between(2 * DAY_MS, 12 * DAY_MS);
  }

  /** All nodes that are there look at the same records, each as if it were alone. Answers whether more is due at once. */
  async #round(): Promise<boolean> {
    const kept = await listSchedules(this.#store.records);
    const seen = new Set<string>();
    let more = false;
    for (const [index, awayUntil] of this.#away.entries()) {
      if (awayUntil > this.bench.now) continue;
      const isDying = this.#random.next() < 0.01;
      for (const each of kept) {
        await this.#expect(each, seen);
        const again = await this.#fire(each, isDying);
        more ||= typeof again === 'number' && again <= this.bench.now;
        if (again !== 'died') continue;
        this.deaths += 1;
        this.#away[index] = this.bench.now + this.#random.between(SECOND_MS, 20 * MINUTE_MS);
        break;
      }
    }
    return more;
  }

  /** What is owed comes before anything new is decided; of several who look at the same record, one decides. */
  async #expect({ schedule: { name, pending } }: StoredSchedule, seen: Set<string>): Promise<void> {
    if (pending.length > 0 || seen.has(name)) return;
    seen.add(name);
    this.expected.get(name)?.check(this.bench.now, await this.#isFree(name));
  }

  async #fire(kept: StoredSchedule, isDying: boolean): Promise<number | null | 'died'> {
    const jobs = { ...this.#store.jobs, add: () => Promise.reject(new Killed()) };
    const store = isDying ? { ...this.#store, jobs } : this.#store;
    try {
      return await fireSchedule(store, kept, this.bench.now);
    } catch (error) {
      if (error instanceof Killed) return 'died';
      throw error;
    }
  }

  async #isFree(name: string): Promise<boolean> {
    const open = this.#open.get(name) ?? new Set();
    for (const job of await this.bench.jobs.find([...open]))
      if (job === null || isEnded(job.state)) open.delete(job?.id ?? '');
    return open.size === 0;
  }

  #add: Store['jobs']['add'] = async (jobs) => {
    const answers = await this.bench.jobs.add(jobs);
    for (const answer of answers) {
      if (!answer.ok) throw new Error(answer.refusal.message);
      if (answer.outcome !== 'added') continue;
      this.made.get(scheduleOf(answer.id))?.push(answer.id);
      this.#open.get(scheduleOf(answer.id))?.add(answer.id);
    }
    return answers;
  };

  /** Whoever is asked to stop takes a minute to do so. */
  async #claim(): Promise<void> {
    const { now } = this.bench;
    for (const job of (await this.bench.requestClaim({ limit: 100, leaseMs: 400 * DAY_MS })).jobs.filter(isRunning))
      this.#running.set(job.id, { job, endsAt: now + (this.#durations.get(scheduleOf(job.id)) ?? 0) });
    for (const job of await this.bench.jobs.find([...this.#running.keys()])) {
      const running = this.#running.get(job?.id ?? '');
      if (job?.lease?.cancelAskedAt && running !== undefined)
        this.#running.set(job.id, {
          ...running,
          endsAt: Math.min(running.endsAt, job.lease.cancelAskedAt + MINUTE_MS),
        });
    }
  }

  async #endJobs(): Promise<void> {
    for (const { job, endsAt } of this.#running.values()) {
      if (endsAt > this.bench.now) continue;
      this.#running.delete(job.id);
      await this.bench.settle(job, { kind: 'complete' });
    }
  }
}

class Killed extends Error {}

const scheduleOf = (id: string): string => /^s\d+/.exec(id)?.[0] ?? '';

const spans = testSize({
  small: [
    ['2026-03-07', '2026-03-09'],
    ['2026-03-28', '2026-03-30'],
    ['2026-10-24', '2026-10-26'],
  ],
  full: [['2026-01-01', '2027-01-01']],
});

it.each(spans)('from %s to %s', { timeout: 1_800_000 }, async (from, until) => {
  const random = openRandom();
  const world = new World(random, Date.parse(from));
  await world.define();
  await world.run(Date.parse(until));
  const made = [...world.made.values()].flat();
  process.stdout.write(
    `figures: ${made.length} jobs of ${SCHEDULES.length} schedules from ${from} to ${until}, ${world.deaths} nodes died, ${world.outages} times none was there, seed ${random.seed}\n`,
  );
  expect(new Set(made).size).toBe(made.length);
  for (const [name, expectation] of world.expected)
    expect({ seed: random.seed, name, ids: world.made.get(name) }).toEqual({
      seed: random.seed,
      name,
      ids: expectation.ids,
    });
  expect(world.outages).toBeGreaterThan(0);
});
