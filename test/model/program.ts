/**
 * Random programs of port calls. The alphabets are tiny, so that things collide: three ids, two queues, two workers,
 * few priorities, and times that fall on the ends of leases and delays.
 *
 * A step names no token, no attempt and mostly no id: those are known only when the program runs, so it says which
 * one it means ("the second of those that run").
 */
import fc from 'fast-check';
import type {
  ClaimRequest,
  Heartbeat,
  JobChanges,
  JobQuery,
  Move,
  NewJob,
  Requeue,
  Target,
} from '../../src/core/job-store.ts';
import { LABELS } from '../../src/core/label.ts';
import type { QueueSettings } from '../../src/core/settings.ts';
import type { Said } from '../contract/workbench.ts';

export const IDS = ['a', 'b', 'c'] as const;
export const QUEUES = ['x', 'y'] as const;
export const WORKERS = ['v', 'w'] as const;

/** Of the tokens that were given for a job: the latest, the one before; one of another job; one not yet given. */
export type Which = 'latest' | 'older' | 'other' | 'future';
/** Whether a caller names the attempt it saw: the present one, or one that is over. */
export type Seen = 'any' | 'present' | 'past';

/** The nth of the jobs for which the call is meant, or of all ids. Where none is fitting, of all ids. */
export interface Who {
  readonly of: 'fitting' | 'any';
  readonly nth: number;
}

type About<T> = Omit<T, 'id' | 'token' | 'attempt' | 'runAt'> & { readonly who: Who; readonly runIn?: number };
type Asked<T> = About<T> & { readonly seen: Seen };
type Calls<Name extends string, Item> = { readonly call: Name; readonly items: readonly Item[] };

export type Step =
  | Calls<'add', About<NewJob>>
  | Calls<'commit' | 'delete', { readonly who: Who }>
  | Calls<'heartbeat', About<Heartbeat> & { readonly which: Which }>
  | Calls<'settle', { readonly who: Who; readonly which: Which; readonly said: Said }>
  | Calls<'cancel', Asked<Target>>
  | Calls<'requeue', Asked<Requeue>>
  | Calls<'move', Asked<Move>>
  | Calls<'change', Asked<JobChanges>>
  | (Omit<ClaimRequest, 'requestId'> & {
      readonly call: 'claim';
      /** Repeats the latest request of the worker. */
      readonly again: boolean;
    })
  | {
      readonly call: 'keepWorker';
      readonly worker: string;
      readonly kind: 'register' | 'renew';
      readonly leaseMs: number;
    }
  | { readonly call: 'endWorker'; readonly worker: string; readonly kind: 'fail' | 'deregister' }
  | { readonly call: 'maintain'; readonly limit: number }
  | { readonly call: 'settings'; readonly queue: string; readonly settings: Partial<QueueSettings> }
  | { readonly call: 'list'; readonly query: Omit<JobQuery, 'after'> };

/** No store gets this far, and every store can keep it. */
export const FUTURE_TOKEN = 2 ** 40;

export interface TimedStep {
  /** How much time passes before it. */
  readonly wait: number;
  /** A call whose reply was lost is made again. */
  readonly times: number;
  readonly step: Step;
}
export type Program = readonly TimedStep[];

/** Over before anything is taken for a gap. */
const BRIEF_MS = 1_500;
const SHORT_MS = 10_000;
const LONG_MS = 20_000;
const DAY_MS = 86_400_000;
const often = (times: number, wait: number): readonly number[] => Array<number>(times).fill(wait);
/** Ends of leases, back-offs and periods, and the moments around them. */
const WAITS = {
  caller: [
    ...often(24, 0),
    ...[1, BRIEF_MS, BRIEF_MS, SHORT_MS - 1, ...often(5, SHORT_MS), LONG_MS, 6 * SHORT_MS, DAY_MS, 8 * DAY_MS],
  ],
  /** Below and above what is taken for a gap, and back: to be clamped, or to be believed. */
  guarded: [
    ...often(16, 0),
    ...[1, 1_000, ...often(4, BRIEF_MS), 2_000, 2_000, 2_001, SHORT_MS - 1, SHORT_MS, LONG_MS],
    ...[-1, -SHORT_MS, -60_000, -60_001],
  ],
};

type Drawn<Model> = { [Key in keyof Model]?: Model[Key] extends fc.Arbitrary<infer T> ? T : never };
/** At most so many of the keys; the others are left out, as in calls of real users. */
const upTo = <Model extends Record<string, fc.Arbitrary<unknown>>>(
  most: number,
  model: Model,
): fc.Arbitrary<Drawn<Model>> =>
  fc
    .subarray(Object.keys(model), { maxLength: most })
    .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, model[key] as fc.Arbitrary<unknown>]))))
    .map((drawn) => drawn as Drawn<Model>);
const oneOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const items = <T>(call: string, item: fc.Arbitrary<T>): fc.Arbitrary<object> =>
  fc.array(item, { minLength: 1, maxLength: 2, size: 'max' }).map((all) => ({ call, items: all }));
const both = <A extends object, B extends object>(
  first: fc.Arbitrary<A>,
  second: fc.Arbitrary<B>,
): fc.Arbitrary<A & B> => fc.tuple(first, second).map(([a, b]) => ({ ...a, ...b }));

const who = fc.record({ of: oneOf('fitting', 'fitting', 'fitting', 'any'), nth: oneOf(0, 1, 2) });
const queue = oneOf(...QUEUES);
const worker = oneOf(...WORKERS);
const which = oneOf<Which>('latest', 'latest', 'latest', 'latest', 'latest', 'older', 'other', 'future');
const seen = oneOf<Seen>('any', 'any', 'present', 'present', 'past');
const leaseMs = oneOf(BRIEF_MS, SHORT_MS, LONG_MS);
const delayMs = oneOf(0, 0, 0, 1, SHORT_MS);
const text = oneOf('1', '"two"', '{"n": 3}');
const failure = fc.record({ group: oneOf('g', 'h'), message: oneOf('m', 'n'), detail: oneOf(null, 'd') });
const unique = fc
  .record({
    key: oneOf('k', 'k', 'k', 'l'),
    scope: oneOf('queue', 'store', 'store'),
    until: oneOf('started', 'ended', 'period'),
  })
  .map((key) => ({ ...key, periodMs: key.until === 'period' ? SHORT_MS : 0 }));

/** Keys that are there in about every second case. */
const maybe = <Model extends Record<string, fc.Arbitrary<unknown>>>(model: Model): fc.Arbitrary<Drawn<Model>> =>
  fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<Drawn<Model>>;
const newJob = both(
  both(
    fc.record({ who, queue: oneOf('x', 'x', 'y'), data: text }),
    maybe({ unique, policy: oneOf({ retries: 1 }, { retries: 2, maxResends: 1 }, { maxResends: 0 }) }),
  ),
  upTo(2, {
    priority: oneOf(-1, 0, 1),
    runIn: oneOf(-SHORT_MS, -1, 0, SHORT_MS),
    delayMs,
    tags: oneOf(['t'], ['t', 'u'], []),
    name: oneOf('n', 'o'),
    draft: oneOf(true),
  }),
);

const said = fc.oneof(
  { weight: 3, arbitrary: both(fc.constant({ kind: 'complete' }), upTo(2, { result: text, data: text })) },
  { weight: 2, arbitrary: fc.record({ kind: oneOf('complete'), next: fc.record({ queue, delayMs }) }) },
  { weight: 4, arbitrary: fc.record({ kind: oneOf('fail', 'retry'), failure, delayMs }) },
  { weight: 1, arbitrary: fc.record({ kind: oneOf('fail'), failure, delayMs, final: oneOf(true) }) },
  { weight: 2, arbitrary: fc.record({ kind: oneOf('resend'), delayMs, reason: oneOf('r') }) },
  { weight: 3, arbitrary: fc.record({ kind: oneOf('release'), reason: oneOf('drain', 'restart') }) },
  { weight: 1, arbitrary: fc.record({ kind: oneOf('forward'), address: oneOf('http://there') }) },
);

const beat = both(
  fc.record({ who, which }),
  upTo(3, {
    leaseMs,
    started: fc.record({ pid: oneOf(7, null) }),
    progress: fc.record({ percent: oneOf(50, null), text: oneOf('half', null) }),
    checkpoint: text,
    data: text,
  }),
);

const changes = both(
  fc.record({ who, seen }),
  upTo(2, {
    priority: oneOf(-2, 0, 2),
    tags: oneOf(['t'], []),
    runIn: oneOf(-1, 0, SHORT_MS),
    name: oneOf('n'),
    data: text,
    pause: fc.boolean(),
  }),
);

const keep = fc.record({ ms: oneOf(null, 0, SHORT_MS), count: oneOf(null, 0, 1) });
const settings = upTo(5, {
  state: oneOf('up', 'paused', 'down'),
  priority: oneOf(0, 1),
  leaseMs,
  retries: oneOf(0, 1, 2),
  maxResends: oneOf(0, 1),
  maxCrashes: oneOf(1, 2, 3),
  onLost: oneOf('requeue', 'fail', 'hold'),
  lostCountsAs: oneOf('crash', 'failure'),
  lostGraceMs: oneOf(0, SHORT_MS),
  exhaustedGroup: oneOf(null, 'exhausted'),
  retention: fc.record({ done: keep, failed: keep, cancelled: keep }),
});

const query = both(
  upTo(2, {
    queue,
    state: oneOf('draft', 'waiting', 'running', 'done', 'failed', 'cancelled'),
    label: oneOf(...LABELS),
    tag: oneOf('t', 'u'),
    name: oneOf('n', 'o'),
    worker,
    group: oneOf('g', 'h', 'lost', 'crashed', 'resends'),
  }),
  fc.record({ order: oneOf('newest'), limit: oneOf(1, 2, 5) }),
);

const claim = both(
  fc.record({
    call: oneOf('claim'),
    worker,
    queues: oneOf(['x'], ['y'], ['x', 'y'], ['x', 'y'], ['y', 'x']),
    limit: oneOf(0, 1, 1, 1, 2, 3),
    again: oneOf(false, false, false, true),
  }),
  fc.oneof({ weight: 3, arbitrary: fc.record({ leaseMs }) }, { weight: 1, arbitrary: fc.constant({}) }),
);

/** The weights decide how deep programs go: most jobs are added, claimed and settled, some are interfered with. */
function anyStep(limits: readonly number[]): fc.Arbitrary<Step> {
  const target = fc.record({ who, seen });
  return fc.oneof(
    { weight: 5, arbitrary: items('add', newJob) },
    { weight: 14, arbitrary: claim },
    { weight: 12, arbitrary: items('settle', fc.record({ who, which, said })) },
    { weight: 3, arbitrary: items('heartbeat', beat) },
    { weight: 2, arbitrary: items('cancel', target) },
    { weight: 3, arbitrary: items('requeue', both(target, upTo(2, { queue, delayMs }))) },
    { weight: 2, arbitrary: items('move', both(fc.record({ who, seen, queue }), upTo(1, { steal: fc.boolean() }))) },
    { weight: 2, arbitrary: items('change', changes) },
    { weight: 2, arbitrary: items('commit', fc.record({ who })) },
    { weight: 1, arbitrary: items('delete', fc.record({ who })) },
    {
      weight: 1,
      arbitrary: fc.record({ call: oneOf('keepWorker'), worker, kind: oneOf('register', 'renew'), leaseMs }),
    },
    { weight: 1, arbitrary: fc.record({ call: oneOf('endWorker'), worker, kind: oneOf('fail', 'deregister') }) },
    { weight: 4, arbitrary: fc.record({ call: oneOf('settings'), queue: oneOf('x', 'x', 'y'), settings }) },
    { weight: 2, arbitrary: fc.record({ call: oneOf('maintain'), limit: oneOf(...limits) }) },
    { weight: 1, arbitrary: fc.record({ call: oneOf('list'), query }) },
  ) as fc.Arbitrary<Step>;
}

/** A small limit together with a clock that leaves gaps would ask which of the leases a gap prolonged come first. */
const LIMITS = { caller: [0, 1, 2, 100, 100], guarded: [0, 100] };

export function aProgram(clock: 'caller' | 'guarded', maxLength: number): fc.Arbitrary<Program> {
  const wait = oneOf(...WAITS[clock]);
  const timed = fc.record({ wait, times: oneOf(1, 1, 1, 1, 2), step: anyStep(LIMITS[clock]) });
  const first = items('add', newJob).map((step) => ({ wait: 0, times: 1, step: step as Step }));
  const others = fc.array(timed, { maxLength: maxLength - 1, size: 'max' });
  return fc.tuple(first, others).map(([add, rest]) => [add, ...rest]);
}
