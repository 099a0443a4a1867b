/**
 * Draws random programs. The weights decide how deep they go: most jobs are added, claimed and settled; some are
 * changed by an operator.
 */
import fc from 'fast-check';
import type { JobPolicy } from '../../src/core/job/job.ts';
import { LABELS } from '../../src/core/job/label.ts';
import type { ThrottleSettings } from '../../src/core/limits/bucket.ts';
import {
  BRIEF_MS,
  LONG_MS,
  MANY,
  type Profile,
  type Program,
  QUEUES,
  type Seen,
  SHORT_MS,
  type Step,
  type Which,
  WORKERS,
} from './program.ts';

type Drawn<Model> = { [Key in keyof Model]?: Model[Key] extends fc.Arbitrary<infer T> ? T : never };
/** At most `count` of the keys; the others are left out, as in real calls. */
const upTo = <Model extends Record<string, fc.Arbitrary<unknown>>>(
  most: number,
  model: Model,
): fc.Arbitrary<Drawn<Model>> =>
  fc
    .subarray(Object.keys(model), { maxLength: most })
    .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, model[key] as fc.Arbitrary<unknown>]))))
    .map((drawn) => drawn as Drawn<Model>);
const oneOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const items = <T>(call: string, item: fc.Arbitrary<T>, most = 2): fc.Arbitrary<object> =>
  fc.array(item, { minLength: 1, maxLength: most, size: 'max' }).map((all) => ({ call, items: all }));
const both = <A extends object, B extends object>(
  first: fc.Arbitrary<A>,
  second: fc.Arbitrary<B>,
): fc.Arbitrary<A & B> => fc.tuple(first, second).map(([a, b]) => ({ ...a, ...b }));

const who = fc.record({ of: oneOf('fitting', 'fitting', 'fitting', 'any'), nth: oneOf(...MANY.keys()) });
const queue = oneOf(...QUEUES);
const worker = oneOf(...WORKERS);
const which = oneOf<Which>('latest', 'latest', 'latest', 'latest', 'latest', 'older', 'other', 'future');
const seen = oneOf<Seen>('any', 'any', 'present', 'present', 'past');
const leaseMs = oneOf(BRIEF_MS, SHORT_MS, LONG_MS);
const delayMs = oneOf(0, 0, 0, 1, SHORT_MS);
/** The last one is too long to be stored inline in every store. */
const text = oneOf('1', '"two"', '{"n": 3}', '{"n": 3}', '{"n": "4"}', `"${'l'.repeat(1_100)}"`);
const failure = fc.record({ group: oneOf('g', 'h'), message: oneOf('m', 'n'), detail: oneOf(null, 'd') });
const unique = fc
  .record({
    key: oneOf('k', 'k', 'k', 'l'),
    scope: oneOf('queue', 'store', 'store'),
    until: oneOf('started', 'ended', 'period'),
  })
  .map((key) => ({ ...key, periodMs: key.until === 'period' ? SHORT_MS : 0 }));

const toA = { url: 'https://a/', on: ['done', 'failed', 'cancelled'] } as const;
const toB = { url: 'https://b/', on: ['start', 'progress', 'waiting', 'cancelled'], every: 40, secret: 's' } as const;
const policy = oneOf<JobPolicy>(
  { retries: 1 },
  { retries: 2, maxResends: 1 },
  { maxResends: 0 },
  { throttles: ['t'], key: 'a' },
  { hooks: [toA, toB] },
  { hooks: [toA], retries: 1 },
);
const limitedPolicy = oneOf(
  { throttles: ['t'] },
  { throttles: ['u'] },
  { throttles: ['t', 'u'] },
  { throttles: ['u', 't', 'u'], retries: 1 },
  { key: 'a' },
  { key: 'a' },
  { key: 'b' },
  { key: 'b', throttles: ['t'] },
  { needs: 'cpu=1' },
  { needs: 'cpu=1', throttles: ['t'] },
  { needs: 'cpu=2' },
  { needs: 'cpu=1,gpu=1', throttles: ['t'] },
);

const onTaken = fc.record({ kind: oneOf('replace', 'debounce'), maxWaitMs: oneOf(null, 0, SHORT_MS) });

/** Each key is present in about half of the cases. */
const maybe = <Model extends Record<string, fc.Arbitrary<unknown>>>(model: Model): fc.Arbitrary<Drawn<Model>> =>
  fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<Drawn<Model>>;
const relatives = fc.array(who, { minLength: 1, maxLength: 3 });
const rule = oneOf('hold', 'fail', 'run');
const richJob = both(
  both(fc.record({ who, queue: oneOf('x', 'x', 'y'), data: text }), maybe({ unique, onTaken, policy })),
  upTo(2, {
    priority: oneOf(-1, 0, 1),
    runIn: oneOf(-SHORT_MS, -1, 0, SHORT_MS),
    delayMs,
    tags: oneOf(['t'], ['t', 'u'], []),
    name: oneOf('n', 'o'),
    draft: oneOf(true),
  }),
);
/** A job that waits for others, mostly for existing ones. */
const childJob = both(
  fc.record({ who, queue: oneOf('x', 'x', 'y'), data: text, family: fc.record({ add: relatives }) }),
  upTo(2, {
    policy: fc.record({ onDependencyFailed: rule }),
    draft: oneOf(true),
    delayMs,
    unique,
    priority: oneOf(-1, 1),
  }),
);
/** A store may have a fast path for plain jobs. */
const plainJob = fc.record({ who, queue: oneOf('x', 'x', 'y'), data: text });
const newJob = fc.oneof(
  { weight: 2, arbitrary: plainJob },
  { weight: 3, arbitrary: richJob },
  { weight: 3, arbitrary: childJob },
);

const outcome = fc.oneof(
  { weight: 3, arbitrary: both(fc.constant({ kind: 'complete' }), upTo(2, { result: text, data: text })) },
  { weight: 2, arbitrary: fc.record({ kind: oneOf('complete'), next: fc.record({ queue, delayMs }) }) },
  { weight: 4, arbitrary: fc.record({ kind: oneOf('fail', 'retry'), failure, delayMs }) },
  { weight: 1, arbitrary: fc.record({ kind: oneOf('fail'), failure, delayMs, final: oneOf(true) }) },
  { weight: 2, arbitrary: fc.record({ kind: oneOf('resend'), delayMs, reason: oneOf('r') }) },
  { weight: 3, arbitrary: fc.record({ kind: oneOf('release'), reason: oneOf('drain', 'restart') }) },
  { weight: 1, arbitrary: fc.record({ kind: oneOf('crash'), reason: oneOf('its shim died') }) },
  { weight: 1, arbitrary: fc.record({ kind: oneOf('forward'), address: oneOf('http://there') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: oneOf('suspend'),
      until: oneOf(null, 0, 1, SHORT_MS),
      event: oneOf(null, null, 'go', 'go', 'go#2'),
      children: fc.constant(null),
    }),
  },
);

/** Pauses a throttle. */
const pausing = fc.record({ kind: oneOf('retry'), failure, delayMs, throttle: oneOf('t', 'u') });

const stepKept = both(
  fc.record({ who, which, kind: oneOf('run', 'sleep', 'event', 'event', 'event'), name: oneOf('go', 'go', 'go#2') }),
  both(
    fc.record({ status: oneOf('waiting', 'waiting', 'done', 'failed') }),
    upTo(2, {
      result: text,
      failure: oneOf('m', 'm\u001f'),
      attempts: oneOf(1, 2),
      ranMs: oneOf(0, 1),
      delayMs: oneOf(0, 1, SHORT_MS),
    }),
  ),
);
const event = fc.record({ who, name: oneOf('go', 'go', 'stop'), data: text });

const beat = both(
  fc.record({ who, which }),
  upTo(3, {
    leaseMs,
    started: fc.record({ pid: oneOf(7, null) }),
    progress: fc.record({ percent: oneOf(20, 50, 90, null), text: oneOf('half', null) }),
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
    note: oneOf('why'),
    family: maybe({ add: relatives, remove: relatives }),
  }),
);

const keep = fc.record({ ms: oneOf(null, 0, SHORT_MS), count: oneOf(null, 0, 1), bytes: oneOf(null, null, 2, 6) });
const settings = upTo(5, {
  state: oneOf('up', 'up', 'paused', 'down', 'deleted'),
  priority: oneOf(0, 1),
  leaseMs,
  retries: oneOf(0, 1, 2),
  maxResends: oneOf(0, 1),
  maxCrashes: oneOf(1, 2, 3),
  onLost: oneOf('requeue', 'fail', 'hold'),
  lostCountsAs: oneOf('crash', 'failure'),
  lostGraceMs: oneOf(0, SHORT_MS),
  exhaustedGroup: oneOf(null, 'exhausted'),
  onDependencyFailed: rule,
  retention: fc.record({ done: keep, failed: keep, cancelled: keep }),
  hooks: oneOf([], [toA], [toB]),
});

const limitsOf = {
  maxRunning: oneOf(null, 1, 2),
  keys: oneOf(null, { by: [], limit: 1 }, { by: ['n'], limit: 1 }, { by: ['n'], limit: null }, { by: ['n'], limit: 2 }),
  throttles: oneOf([], ['t'], ['t', 'u']),
  coalesce: oneOf(null, { by: ['n'] }, { by: ['n'], scheduled: true }),
  rate: oneOf(null, { count: 1, ms: SHORT_MS }, { count: 3, ms: LONG_MS }, { count: 2, ms: BRIEF_MS }),
};
const limits = upTo(2, limitsOf);
const someQueue = oneOf('x', 'x', 'x', 'y');
const setLimits = fc.record({ call: oneOf('settings'), queue: someQueue, settings: limits });
/** Slots, rates by key and with a cost, and both. */
const throttleLimits = oneOf<ThrottleSettings>(
  { max: 1 },
  { max: 1 },
  { max: 2 },
  { rate: { count: 1, ms: SHORT_MS } },
  { rate: { count: 4, ms: LONG_MS }, cost: 'n' },
  { max: 2, rate: { count: 2, ms: BRIEF_MS }, by: ['n'] },
);
const setThrottle = fc.record({
  call: oneOf('throttle'),
  name: oneOf('t', 't', 'u'),
  limits: fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 6, arbitrary: throttleLimits }),
});
const limitAll = upTo(2, { maxRunning: limitsOf.maxRunning, throttles: limitsOf.throttles, rate: limitsOf.rate });
const setAll = fc.record({ call: oneOf('settings'), queue: oneOf('*'), settings: limitAll });
const limiting = fc.oneof(
  { weight: 3, arbitrary: setLimits },
  { weight: 3, arbitrary: setThrottle },
  { weight: 1, arbitrary: setAll },
);
const limitedJob = both(
  fc.record({ who, queue: someQueue, data: oneOf('{"n": 3}', '{"n": 3}', '{"n": "4"}', '1'), policy: limitedPolicy }),
  upTo(1, {
    priority: oneOf(-1, 1),
    runIn: oneOf(-SHORT_MS, SHORT_MS),
    delayMs: oneOf(SHORT_MS),
    draft: oneOf(true),
    unique,
    family: fc.record({ add: relatives }),
  }),
);

const ago = oneOf(0, 1, -SHORT_MS, -LONG_MS);
const query = both(
  upTo(2, {
    queue,
    state: oneOf('draft', 'waiting', 'running', 'done', 'failed', 'cancelled'),
    label: oneOf(...LABELS),
    tag: oneOf('t', 'u'),
    name: oneOf('n', 'o'),
    worker,
    parent: oneOf('a', 'b', 'c'),
    child: oneOf('a', 'b', 'c'),
    group: oneOf('g', 'h', 'lost', 'crashed', 'resends', 'dependency'),
  }),
  fc.record({ order: oneOf('newest'), limit: oneOf(1, 2, 5) }),
);

/** A worker that runs nothing yet; a worker that reserves capacity is part of the contract. */
const offers = oneOf('cpu=1', 'cpu=2', 'cpu=4,gpu=1').map((whole) => ({ whole, free: whole }));
const claim = both(
  fc.record({
    call: oneOf('claim'),
    worker,
    queues: oneOf(['x'], ['y'], ['x', 'y'], ['x', 'y'], ['y', 'x'], ['x', 'hooks'], ['hooks']),
    limit: oneOf(0, 1, 1, 1, 2, 3),
    again: oneOf<false | 'latest' | 'earlier'>(false, false, false, false, 'latest', 'earlier'),
  }),
  both(
    fc.oneof({ weight: 3, arbitrary: fc.record({ leaseMs }) }, { weight: 1, arbitrary: fc.constant({}) }),
    maybe({ offers }),
  ),
);

/** Used only by a job that advances to another queue, or is suspended. */
const settledFor = upTo(1, { family: fc.record({ add: relatives }) });
/** Steps that free slots, and jobs that wait for them. */
function limitedStep(): fc.Arbitrary<Step> {
  const target = fc.record({ who, seen: oneOf<Seen>('any') });
  const onlyLatest = oneOf<Which>('latest');
  return fc.oneof(
    { weight: 4, arbitrary: items('add', limitedJob, 4) },
    { weight: 14, arbitrary: claim },
    { weight: 10, arbitrary: items('settle', fc.record({ who, which: onlyLatest, outcome })) },
    { weight: 2, arbitrary: items('settle', fc.record({ who, which: onlyLatest, outcome: pausing })) },
    { weight: 1, arbitrary: items('notify', event) },
    { weight: 3, arbitrary: items('cancel', target) },
    { weight: 2, arbitrary: items('delete', fc.record({ who })) },
    { weight: 3, arbitrary: items('change', changes) },
    { weight: 2, arbitrary: items('requeue', both(target, upTo(1, { queue }))) },
    { weight: 2, arbitrary: items('move', both(target, fc.record({ queue, steal: fc.boolean() }))) },
    { weight: 1, arbitrary: items('commit', fc.record({ who })) },
    { weight: 1, arbitrary: fc.record({ call: oneOf('endWorker'), worker, kind: oneOf('fail') }) },
    { weight: 2, arbitrary: limiting },
    { weight: 1, arbitrary: fc.record({ call: oneOf('maintain'), limit: oneOf(100) }) },
    { weight: 1, arbitrary: fc.record({ call: oneOf('list'), query: throttledQuery }) },
  ) as fc.Arbitrary<Step>;
}

/** Jobs with many webhook events to few addresses, and jobs that wait for these calls. */
function webhookStep(): fc.Arbitrary<Step> {
  const target = fc.record({ who, seen: oneOf<Seen>('any') });
  const webhooks = oneOf([toAll], [toAll], [toAll, toA], []);
  const reportedJob = both(
    fc.record({ who, queue: oneOf('x'), data: oneOf('1'), policy: both(fc.record({ hooks: webhooks }), ruled) }),
    upTo(1, { family: fc.record({ add: relatives }), draft: oneOf(true) }),
  );
  const settled = fc.record({ who, which: oneOf<Which>('latest'), outcome });
  return fc.oneof(
    { weight: 4, arbitrary: items('add', reportedJob, 3) },
    { weight: 10, arbitrary: webhookClaim },
    { weight: 8, arbitrary: items('settle', both(settled, settledFor)) },
    { weight: 2, arbitrary: items('heartbeat', beat) },
    { weight: 4, arbitrary: items('cancel', both(target, upTo(1, { dependents: oneOf('cancel', 'leave') }))) },
    { weight: 3, arbitrary: items('requeue', both(target, upTo(1, { queue, steal: oneOf(true) }))) },
    { weight: 1, arbitrary: items('move', both(target, fc.record({ queue, steal: fc.boolean() }))) },
    { weight: 5, arbitrary: items('change', both(target, fc.record({ family: fc.record({ add: relatives }) }))) },
    { weight: 1, arbitrary: items('commit', fc.record({ who })) },
    { weight: 2, arbitrary: items('delete', fc.record({ who })) },
    { weight: 2, arbitrary: fc.record({ call: oneOf('endWorker'), worker, kind: oneOf('fail') }) },
    { weight: 2, arbitrary: fc.record({ call: oneOf('settings'), queue: oneOf('x', 'hooks'), settings: losing }) },
    { weight: 2, arbitrary: fc.record({ call: oneOf('maintain'), limit: oneOf(100) }) },
  ) as fc.Arbitrary<Step>;
}
const toAll = { url: 'https://c/', on: ['start', 'progress', 'waiting', 'done', 'failed', 'cancelled'] } as const;
const ruled = upTo(1, { onDependencyFailed: rule, retries: oneOf(1, 2) });
const losing = upTo(3, { onLost: oneOf('requeue', 'fail', 'fail'), maxCrashes: oneOf(1, 2), onDependencyFailed: rule });
const webhookClaim = fc.record({
  call: oneOf('claim'),
  worker,
  queues: oneOf(['x'], ['hooks'], ['hooks'], ['x', 'hooks']),
  limit: oneOf(1, 2, 3),
  again: oneOf<false | 'latest' | 'earlier'>(false, false, false, false, 'latest', 'earlier'),
  leaseMs,
});

const throttledQuery = fc.record({ label: oneOf('throttled', 'ready'), order: oneOf('newest'), limit: oneOf(5) });

function anyStep({ ids, limits }: Profile): fc.Arbitrary<Step> {
  const target = fc.record({ who, seen });
  return fc.oneof(
    { weight: 5, arbitrary: items('add', newJob, Math.ceil(ids.length / 2)) },
    { weight: 14, arbitrary: claim },
    { weight: 12, arbitrary: items('settle', both(fc.record({ who, which, outcome }), settledFor)) },
    { weight: 3, arbitrary: items('heartbeat', beat) },
    { weight: 3, arbitrary: items('keepSteps', stepKept, 3) },
    { weight: 3, arbitrary: items('notify', event) },
    { weight: 2, arbitrary: items('cancel', both(target, upTo(1, { dependents: oneOf('cancel', 'leave') }))) },
    {
      weight: 3,
      arbitrary: items('requeue', both(target, upTo(2, { queue, delayMs, steal: oneOf(true), fresh: oneOf(true) }))),
    },
    { weight: 2, arbitrary: items('move', both(fc.record({ who, seen, queue }), upTo(1, { steal: fc.boolean() }))) },
    { weight: 2, arbitrary: items('change', changes) },
    { weight: 2, arbitrary: items('commit', fc.record({ who })) },
    { weight: 1, arbitrary: items('delete', fc.record({ who })) },
    {
      weight: 1,
      arbitrary: fc.record({ call: oneOf('keepWorker'), worker, kind: oneOf('register', 'renew'), leaseMs }),
    },
    { weight: 1, arbitrary: fc.record({ call: oneOf('endWorker'), worker, kind: oneOf('fail', 'deregister') }) },
    {
      weight: 4,
      arbitrary: fc.record({ call: oneOf('settings'), queue: oneOf('x', 'x', 'x', 'y', 'y', 'hooks', '*'), settings }),
    },
    { weight: 1, arbitrary: limiting },
    { weight: 2, arbitrary: fc.record({ call: oneOf('maintain'), limit: oneOf(...limits) }) },
    { weight: 1, arbitrary: both(fc.record({ call: oneOf('list'), query }), upTo(1, { sinceIn: ago, beforeIn: ago })) },
  ) as fc.Arbitrary<Step>;
}

export function aProgram(profile: Profile): fc.Arbitrary<Program> {
  const step =
    profile.steps === undefined ? anyStep(profile) : { limited: limitedStep, webhooks: webhookStep }[profile.steps]();
  const timed = fc.record({ wait: oneOf(...profile.waits), times: oneOf(1, 1, 1, 1, 2), step });
  const first = profile.steps === 'limited' ? beginLimited(profile) : [items('add', newJob, profile.ids.length)];
  const others = fc.array(timed, { maxLength: profile.maxSteps - 1, size: 'max' });
  const begin = fc.tuple(...first).map((steps) => steps.map((each) => ({ wait: 0, times: 1, step: each as Step })));
  return fc.tuple(begin, others).map(([before, rest]) => {
    const program = [...before, ...(profile.clock === 'caller' ? withoutLateStepsBack(rest) : rest)];
    return hasCosts(program) ? withOneThrottlePerJob(program) : program;
  });
}

const hasCosts = (program: Program): boolean =>
  program.some(({ step }) => step.call === 'throttle' && step.limits?.cost !== undefined);

/**
 * A job that lacks its cost in a bucket closes the bucket, so that cheaper jobs do not overtake it forever. A job with two
 * throttles closes the one that it waits for, and which one that is depends on when a store examines it: a store examines
 * a parked job again after some changes of its surroundings, and no store need do so at the same time. While every job
 * costs 1, that has no effect.
 */
function withOneThrottlePerJob(program: Program): Program {
  const text = JSON.stringify(program);
  return JSON.parse(text, (name, value) => (name === 'throttles' ? value.slice(0, 1) : value)) as Program;
}

/**
 * Maintenance forgets the buckets that are full by its clock, and a change of a throttle wakes jobs at its time. A store
 * that accepts a step back lets jobs behind buckets start at once; the clock of a caller is taken as it is, and they would
 * wait until that time comes again.
 */
function withoutLateStepsBack(program: Program): Program {
  const from = program.findIndex(({ step }) => step.call === 'maintain' || step.call === 'throttle');
  const forward = ({ wait, ...rest }: Program[number]) => ({ ...rest, wait: Math.max(0, wait) });
  return program.map((each, place) => (from >= 0 && place > from ? forward(each) : each));
}

function beginLimited({ ids }: Profile): fc.Arbitrary<object>[] {
  const one = (name: string) => fc.record({ call: oneOf('throttle'), name: oneOf(name), limits: throttleLimits });
  const keys = oneOf(null, { by: [], limit: null }, { by: ['n'], limit: 2 }, { by: [], limit: 1 });
  const coalesce = oneOf(null, { by: ['n'] }, { by: ['n'], scheduled: true });
  const first = fc.record({ call: oneOf('settings'), queue: oneOf('x'), settings: fc.record({ keys, coalesce }) });
  return [one('t'), one('u'), first, items('add', limitedJob, ids.length)];
}
