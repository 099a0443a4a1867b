/**
 * Differential test: a store and the model get the same calls at the same time. Throws if they disagree: on a result,
 * on the state of the jobs or, at the end, on histories, counts, groups, lists, workers or events.
 *
 * Tokens and insertion numbers differ between the two: tokens are translated, insertion numbers show in the order of
 * lists.
 */

import type { Job } from '../../src/core/job/job.ts';
import type { Moment } from '../../src/core/lifecycle/clock.ts';
import type { ThrottleSettings } from '../../src/core/limits/bucket.ts';
import { NO_THROTTLE } from '../../src/core/limits/bucket.ts';
import { THROTTLE_RECORD } from '../../src/core/limits/throttle.ts';
import { isReadOnly } from '../../src/core/operations/perform.ts';
import type {
  ClaimRequest,
  ClaimResult,
  FailureGroup,
  JobQuery,
  NewJob,
  StoreEvent,
} from '../../src/core/ports/job-store.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { GLOBAL_SETTINGS_KEY, QUEUE_RECORD } from '../../src/core/settings/settings.ts';
import { dayOf, dayText } from '../../src/core/statistics/statistics.ts';
import { Model } from './model.ts';
import * as calls from './model-calls.ts';
import * as chores from './model-maintenance.ts';
import * as reads from './model-reads.ts';
import { hourly, nearly, statistics } from './model-statistics.ts';
import * as steps from './model-steps.ts';
import { ALL_QUEUES, FUTURE_TOKEN, type Profile, type Program, QUEUES, THROTTLES, WORKERS } from './program.ts';
import { type Call, type PortCall, prepare, resolve } from './resolve.ts';

/** A difference between store and model, with a message for the reader of the failure. */
export class Disagreement extends Error {}

/** Every result is compared; the jobs themselves after every third step, because an error mostly persists. */
const COMPARE_EVERY = 3;
const PROBES: readonly NewJob[] = ['k', 'l'].flatMap((key) =>
  [...QUEUES, 'anywhere'].map((queue) => {
    const unique = { key, scope: queue === 'anywhere' ? 'store' : 'queue', until: 'ended', periodMs: 0 } as const;
    return { id: `${key}-${queue}`, queue, data: '0', unique };
  }),
);

let requests = 0;
const freshRequest = (): string => {
  requests += 1;
  return `request-${requests}`;
};

export class Differential {
  readonly #store: Store;
  readonly #model: Model;
  readonly #isGuarded: boolean;
  readonly #firstDay: string;
  /** The store's tokens, indexed by the model's, which count from one. */
  readonly #tokens: number[] = [];
  /** Of the records of throttles, in the model. */
  #versions = 0;

  constructor(store: Store, { clock, ids }: Profile, startAt: number) {
    this.#store = store;
    this.#model = new Model({ clock, ids, startAt });
    this.#isGuarded = clock === 'guarded';
    // Statistics are not deleted between programs, but the previous program was days ago.
    this.#firstDay = dayText(dayOf(startAt) - 1);
  }

  get now(): number {
    return this.#model.now;
  }

  get expectedEvents(): readonly StoreEvent[] {
    return this.#model.events;
  }

  async run(program: Program): Promise<void> {
    for (const [index, { wait, times, step }] of program.entries()) {
      this.#model.now += wait;
      const before = prepare(step, this.#model, freshRequest);
      if (before !== null) await this.#perform(before, `before step ${index + 1}, ${step.call}`);
      const call = resolve(step, this.#model, freshRequest);
      for (let time = 1; time <= times; time += 1) await this.#perform(call, `step ${index + 1}, ${step.call}`);
      if (index % COMPARE_EVERY === 0) await this.#compareJobs(`after step ${index + 1}, ${step.call}`);
    }
    await this.#compareJobs('at the end');
    await this.#compareAll();
    await this.#compareKeys();
  }

  /** Empties the store for the next program, and checks that it is empty. */
  async clear(): Promise<void> {
    const { jobs, records } = this.#store;
    const time = { now: this.now };
    const found = (await jobs.find(this.#model.ids, time)).filter((job) => job !== null);
    const running = found.filter(({ state }) => state === 'running');
    if (running.length > 0)
      await jobs.move(
        running.map(({ id, queue }) => ({ id, queue, steal: true })),
        time,
      );
    await Promise.all([
      jobs.delete(
        found.map(({ id }) => id),
        time,
      ),
      ...WORKERS.map((id) => jobs.endWorker({ id, kind: 'deregister' }, time)),
      ...[...ALL_QUEUES, GLOBAL_SETTINGS_KEY].map((queue) => records.delete(QUEUE_RECORD, queue, time)),
      ...THROTTLES.map((name) => records.delete(THROTTLE_RECORD, name, time)),
    ]);
    // A job that failed because another was deleted may have webhook jobs.
    const webhookJobs = await jobs.list({ queue: 'hooks', order: 'newest', limit: 1_000 }, time);
    await jobs.delete(
      webhookJobs.jobs.map(({ id }) => id),
      time,
    );
    const left = await jobs.count(ALL_QUEUES, time);
    const isEmpty = left.every(({ queue: _queue, ...counts }) => Object.values(counts).every((count) => count === 0));
    if (!isEmpty) throw new Disagreement(`all jobs were deleted, and these are counted: ${JSON.stringify(left)}`);
  }

  async #perform(call: Call, where: string): Promise<void> {
    if (call.name === 'settings') return this.#setQueue(call.queue, call.settings);
    if (call.name === 'throttle') return this.#setThrottle(call.throttle, call.limits);
    if (call.name === 'list') return this.#compareList(call.argument, where);
    const moment = this.#model.moment(isReadOnly(call.name) ? 'read' : 'call');
    // A claim with a remembered answer examines no job.
    const isRepeat = call.name === 'claim' && calls.rememberedClaim(this.#model, call.argument) !== undefined;
    const expected = expectedOf(this.#model, call, moment);
    const actual = await this.#ask(call);
    if (call.name === 'claim') this.#learnTokens(expected, actual, where);
    const limit = call.name === 'claim' && !isRepeat ? call.argument.limit : 0;
    const known =
      call.name === 'claim' ? this.#withEarlierWake({ ...call.argument, limit }, expected, actual) : expected;
    this.#compare(() => `${where} ${JSON.stringify(call)}`, known, actual);
  }

  /** Accepts an earlier next time of a claim, if throttles have rates or pauses: never a later one than a bucket opens. */
  #withEarlierWake(request: ClaimRequest, expected: unknown, actual: unknown): unknown {
    const [ours, theirs] = [expected as ClaimResult, actual as ClaimResult];
    const opening = ours.jobs.length < request.limit ? calls.nextOpening(this.#model, request, ours.now) : null;
    const latest = Math.min(...[ours.nextAt, opening].filter((time) => time !== null));
    const isAllowed =
      theirs.nextAt === null
        ? latest === Number.POSITIVE_INFINITY
        : theirs.nextAt > ours.now && theirs.nextAt <= latest;
    return this.#model.limits.hasBuckets && isAllowed ? { ...ours, nextAt: theirs.nextAt } : expected;
  }

  #ask({ name, argument }: PortCall): Promise<unknown> {
    const own = rename(argument, (token) => this.#storeToken(token));
    const port = this.#store.jobs[name] as (argument: unknown, options: { now: number }) => Promise<unknown>;
    return port(own, { now: this.now });
  }

  /** Whether a put ends a gap is up to each store; here another call has just ended it. */
  async #setQueue(queue: string, settings: object): Promise<void> {
    if (this.#isGuarded) await this.#perform({ name: 'maintain', argument: { limit: 0 } }, 'before settings');
    this.#model.setQueue(queue, settings);
    const record = { kind: QUEUE_RECORD, key: queue, value: JSON.stringify(settings) };
    await this.#store.records.put(record, { now: this.now });
  }

  async #setThrottle(name: string, limits: ThrottleSettings | null): Promise<void> {
    const { records } = this.#store;
    if (this.#isGuarded) await this.#perform({ name: 'maintain', argument: { limit: 0 } }, 'before a throttle');
    if (limits === null) {
      delete this.#model.throttles[name];
      await records.delete(THROTTLE_RECORD, name, { now: this.now });
    } else {
      this.#versions += 1;
      this.#model.throttles[name] = { ...NO_THROTTLE, ...limits, version: this.#versions };
      await records.put({ kind: THROTTLE_RECORD, key: name, value: JSON.stringify(limits) }, { now: this.now });
    }
  }

  #learnTokens(expected: unknown, actual: unknown, where: string): void {
    const given = (actual as { jobs: readonly Job[] }).jobs.map(({ lease }) => lease?.token ?? 0);
    for (const [index, { lease }] of (expected as { jobs: readonly Job[] }).jobs.entries()) {
      const [own, theirs] = [lease?.token ?? 0, given[index]];
      if (own <= this.#tokens.length || theirs === undefined) continue;
      if (theirs <= (this.#tokens.at(-1) ?? 0)) throw new Disagreement(`${where}: token ${theirs} did not grow`);
      this.#tokens.push(theirs);
    }
  }

  /** Returns 0 for a token that only the model gave: then they have disagreed already. */
  #storeToken(token: number): number {
    return token === FUTURE_TOKEN ? token : (this.#tokens[token - 1] ?? 0);
  }

  #modelToken(token: number): number {
    return token === FUTURE_TOKEN ? token : this.#tokens.indexOf(token) + 1;
  }

  /** The description is computed only for a difference. */
  #compare(what: string | (() => string), expected: unknown, actual: unknown): void {
    const named = (token: number): number => this.#modelToken(token);
    if (isSame(expected, actual, named)) return;
    const [ours, theirs] = [rename(expected, (token) => token), rename(actual, named)];
    const where = typeof what === 'string' ? what : what();
    throw new Disagreement(`${where}\n  expected ${JSON.stringify(ours)}\n  received ${JSON.stringify(theirs)}`);
  }

  async #compareJobs(where: string): Promise<void> {
    const expected = this.#model.ids.map((id) => this.#model.get(id) ?? null);
    this.#compare(`the jobs ${where}`, expected, await this.#store.jobs.find(this.#model.ids, { now: this.now }));
  }

  async #compareAll(): Promise<void> {
    const { jobs } = this.#store;
    const time = { now: this.now };
    const { now } = this.#model.moment('read');
    const model = this.#model;
    const histories = this.#model.ids.map(async (id) => {
      const rows = await jobs.history(id, time);
      this.#compare(`the history of ${id}`, model.rows(id), rows);
      this.#compare(`the steps of ${id}`, steps.stepsOf(model, id), await jobs.steps(id, time));
      const state = rows.findLast(({ event }) => event !== 'late' && event !== 'changed')?.state;
      this.#compare(`the state in the history of ${id}`, model.get(id)?.state, state);
    });
    const counts = ALL_QUEUES.map((queue) => reads.count(model, queue, now));
    await Promise.all([
      ...histories,
      jobs.count(ALL_QUEUES, time).then((actual) => this.#compare('the counts', counts, actual)),
      ...ALL_QUEUES.map(async (queue) => {
        const actual = await jobs.insight({ kind: 'storage', queue }, time);
        this.#compare(`the storage of ${queue}`, [reads.storage(model, queue)], actual);
      }),
      jobs.insight({ kind: 'failures' }, time).then((actual) => {
        const daysOf = (groups: readonly FailureGroup[]) => groups.map((group) => withDays(group, this.#firstDay));
        this.#compare('the failure groups', daysOf(reads.failures(model, ALL_QUEUES, now)), daysOf(actual));
      }),
      // Each program has a day of its own, and compares one of the two dimensions besides the total.
      ...(['queue', dayOf(now) % 2 === 0 ? 'tag' : 'worker'] as const).map(async (by) => {
        const expected = statistics(model, by, now);
        const actual = await jobs.insight({ kind: 'statistics', by, from: this.#firstDay }, time);
        this.#compare(`the statistics by ${by}`, expected, nearly(expected, actual));
      }),
      jobs.insight({ kind: 'series', span: 'hour', from: Date.parse(this.#firstDay) }, time).then((actual) => {
        this.#compare('the throughput by hour', hourly(model, Date.parse(this.#firstDay), now), actual);
      }),
      jobs.workers(time).then((actual) => {
        const sorted = actual.map((worker) => ({ ...worker, running: [...worker.running].sort() }));
        this.#compare('the workers', reads.workers(model, now), sorted);
      }),
      this.#compareList({ order: 'newest', limit: 2 }, 'the newest'),
      ...ALL_QUEUES.map((queue) => this.#compareList({ queue, order: 'claim', limit: 2 }, `a peek into ${queue}`)),
    ]);
  }

  /** The holder of a key shows only when a job wants it: probes want every key, everywhere. */
  async #compareKeys(): Promise<void> {
    await this.#perform({ name: 'add', argument: PROBES }, 'who holds the keys');
    const free = PROBES.filter(({ id }) => this.#model.get(id) !== undefined);
    await this.#perform({ name: 'delete', argument: free.map(({ id }) => id) }, 'after the keys');
  }

  async #compareList(query: JobQuery, where: string): Promise<void> {
    const expected = reads.list(this.#model, query, this.#model.moment('read').now);
    const actual: Job[] = [];
    let after: string | null = null;
    do {
      const page = await this.#store.jobs.list(after === null ? query : { ...query, after }, { now: this.now });
      if (page.jobs.length > query.limit) throw new Disagreement(`${where}: a page is longer than its limit`);
      actual.push(...page.jobs);
      after = page.next;
    } while (after !== null && actual.length <= expected.length);
    this.#compare(() => `${where} ${JSON.stringify(query)}`, expected, actual);
  }
}

function expectedOf(model: Model, call: PortCall, moment: Moment): unknown {
  switch (call.name) {
    case 'add':
      return call.argument.map((item) => calls.add(model, item, moment));
    case 'commit':
      return call.argument.map((id) => calls.commit(model, id, moment));
    case 'claim':
      return calls.claim(model, call.argument, moment);
    case 'heartbeat':
      return call.argument.map((item) => calls.heartbeat(model, item, moment));
    case 'settle':
      return call.argument.map((item) => calls.settle(model, item, moment));
    case 'keepSteps':
      return call.argument.map((item) => steps.keepStep(model, item, moment));
    case 'notify':
      return call.argument.map((item) => steps.notifyJob(model, item, moment));
    case 'cancel':
      return call.argument.map((item) => calls.cancel(model, item, moment));
    case 'requeue':
      return call.argument.map((item) => calls.requeue(model, item, moment));
    case 'move':
      return call.argument.map((item) => calls.move(model, item, moment));
    case 'change':
      return call.argument.map((item) => calls.change(model, item, moment));
    case 'delete':
      return call.argument.map((id) => calls.remove(model, id, moment));
    case 'keepWorker':
      return chores.keepWorker(model, call.argument, moment);
    case 'endWorker':
      return chores.endWorker(model, call.argument, moment);
    case 'maintain':
      return chores.maintain(model, call.argument.limit, ALL_QUEUES, moment);
    default:
      throw new Error(`${call.name} is compared elsewhere`);
  }
}

/**
 * Returns whether the two are deeply equal after the store's tokens are translated and insertion numbers are left out.
 */
function isSame(ours: unknown, theirs: unknown, named: (token: number) => number): boolean {
  if (typeof ours !== 'object' || ours === null) return Object.is(ours, theirs);
  if (typeof theirs !== 'object' || theirs === null || Array.isArray(ours) !== Array.isArray(theirs)) return false;
  if (Array.isArray(ours)) {
    const others = theirs as readonly unknown[];
    return ours.length === others.length && ours.every((item, at) => isSame(item, others[at], named));
  }
  return hasSameFields(ours as Fields, theirs as Fields, named);
}

type Fields = Readonly<Record<string, unknown>>;

function hasSameFields(ours: Fields, theirs: Fields, named: (token: number) => number): boolean {
  let left = fieldsIn(theirs);
  for (const name in ours) {
    const [own, other] = [ours[name], theirs[name]];
    if (name === 'seq' || own === undefined) continue;
    if (other === undefined) return false;
    left -= 1;
    const isToken = name === 'token' && typeof other === 'number';
    if (isToken ? !Object.is(own, named(other)) : !isSame(own, other, named)) return false;
  }
  return left === 0;
}

function fieldsIn(value: Fields): number {
  let count = 0;
  for (const name in value) if (name !== 'seq' && value[name] !== undefined) count += 1;
  return count;
}

/** Returns the same value with every token translated and without insertion numbers. */
function rename(value: unknown, token: (token: number) => number): unknown {
  if (Array.isArray(value)) return value.map((item) => rename(item, token));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name, item]) => name !== 'seq' && item !== undefined);
  return Object.fromEntries(
    entries.map(([name, item]) => [
      name,
      name === 'token' && typeof item === 'number' ? token(item) : rename(item, token),
    ]),
  );
}

/** The days of a group within this program: a store keeps those of earlier programs. */
function withDays({ trend, ...group }: FailureGroup, firstDay: string): object {
  return { ...group, days: (trend?.days ?? []).filter(({ day }) => day >= firstDay) };
}
