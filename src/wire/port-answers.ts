/** The answers of the store ports over HTTP, as checks: they give the schemas, and the tests validate answers with them. */
import type { Check, Report } from '../core/input/check.ts';
import { anyOf, fields, flag, integer, listOf, number, oneOf, orNull, text } from '../core/input/check.ts';
import { described, schemaOf } from '../core/input/json-schema.ts';
import { HISTORY_EVENTS } from '../core/job/history.ts';
import { JOB_STATES } from '../core/job/job.ts';
import { MAX_STEPS, STEP_KINDS, STEP_STATUSES } from '../core/job/step.ts';
import { PRUNABLE_KINDS } from '../core/lifecycle/prunable.ts';
import type { CallName } from '../core/operations/perform.ts';
import type { InsightKind } from '../core/ports/insight.ts';
import { ADD_OUTCOMES, NOTIFY_OUTCOMES } from '../core/ports/job-store.ts';
import { REFUSAL_CODES } from '../core/ports/refusal.ts';
import { day, failureRecord, ms, policyRecord, uniqueRecord, whole, word } from './port-checks.ts';

const MAX_ITEMS = 10_000;
export const state = oneOf(...JOB_STATES);
const anyText = text({ max: 1024 * 1024 });
const refusal = fields({ code: oneOf(...REFUSAL_CODES), message: anyText }, { holder: word, dependents: whole });

const lease = fields({
  token: whole,
  worker: word,
  ms,
  until: ms,
  claimedAt: ms,
  startedAt: orNull(ms),
  pid: orNull(whole),
  cancelAskedAt: orNull(ms),
  pauseAskedAt: orNull(ms),
});

/** All fields of a job except its JSON texts. */
export const jobFields = {
  id: word,
  queue: word,
  name: orNull(word),
  state,
  priority: integer(-1_000_000_000, 1_000_000_000),
  tags: listOf(word, 100),
  policy: policyRecord,
  unique: orNull(uniqueRecord),
  parents: orNull(fields({ of: whole, open: whole, bad: whole })),
  dependents: whole,
  createdAt: ms,
  seq: whole,
  runAt: ms,
  delayMs: orNull(ms),
  freedAt: orNull(ms),
  returnedAt: orNull(ms),
  turn: whole,
  coalesceKey: orNull(anyText),
  foldedInto: orNull(word),
  folded: whole,
  slots: listOf(word, 21),
  steps: orNull(fields({ count: whole, bytes: whole })),
  suspension: orNull(fields({ until: orNull(ms), event: orNull(word), ranMs: ms })),
  attempt: whole,
  failures: whole,
  resends: whole,
  crashes: whole,
  interruptions: whole,
  lease: orNull(lease),
  progress: orNull(fields({ percent: orNull(number(0, 100)), text: orNull(anyText), at: ms })),
  failure: orNull(failureRecord),
  forwardedTo: orNull(anyText),
  endedAt: orNull(ms),
};
const job = fields({ ...jobFields, data: anyText, checkpoint: orNull(anyText), result: orNull(anyText) });

export const historyRows = listOf(
  fields({
    at: ms,
    event: oneOf(...HISTORY_EVENTS),
    state,
    attempt: whole,
    token: orNull(whole),
    by: orNull(word),
    note: orNull(anyText),
  }),
  MAX_ITEMS,
);

/** The fields of a step; the result apart, which is JSON text in the port and a value in the API. */
export const stepFields = {
  number: whole,
  kind: oneOf(...STEP_KINDS),
  name: word,
  status: oneOf(...STEP_STATUSES),
  failure: orNull(anyText),
  attempts: whole,
  startedAt: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  endedAt: orNull(ms),
  until: orNull(ms),
};
const step = fields({ ...stepFields, result: orNull(anyText) });

export const counts = fields({
  queue: word,
  ...(Object.fromEntries(JOB_STATES.map((each) => [each, whole])) as Record<
    (typeof JOB_STATES)[number],
    Check<number>
  >),
  blocked: whole,
  scheduled: whole,
  relayed: whole,
});
export const failureGroups = listOf(
  fields({
    queue: word,
    group: anyText,
    count: whole,
    firstAt: ms,
    lastAt: ms,
    sampleId: orNull(word),
    trend: orNull(
      fields({ firstAt: ms, lastAt: ms, days: listOf(fields({ day, failures: whole, retries: whole }), 4_000) }),
    ),
  }),
  MAX_ITEMS,
);
export const tagCounts = listOf(fields({ tag: word, jobs: whole }), MAX_ITEMS);
export const prunableJobs = listOf(
  fields({ queue: word, kind: oneOf(...PRUNABLE_KINDS), byAge: whole, byCount: whole, byBytes: whole, bytes: whole }),
  MAX_ITEMS,
);
export const held = fields({ count: whole, bytes: whole });
export const storageFields = { queue: word, done: held, failed: held, cancelled: held, results: held, logs: held };
const spread = fields({
  count: whole,
  mean: number(0, Number.MAX_VALUE),
  variance: number(0, Number.MAX_VALUE),
  histogram: orNull(listOf(listOf(whole, 2), 1_000)),
});
export const dayStatistics = listOf(
  fields({
    queue: word,
    day,
    of: word,
    wait: spread,
    run: spread,
    retries: whole,
    failures: whole,
    interruptions: whole,
  }),
  100_000,
);
export const workerFields = {
  id: word,
  host: word,
  pid: whole,
  queues: listOf(word, MAX_ITEMS),
  registeredAt: ms,
  seenAt: ms,
  until: ms,
  isLost: flag,
  running: listOf(word, MAX_ITEMS),
};

/** A successful result with these fields, or a refusal. */
function orRefused(success: Check<unknown>): Check<unknown> {
  const refused = fields({ ok: isFalse, refusal });
  return described({ anyOf: [success.schema ?? {}, refused.schema ?? {}] }, (value: unknown, report, path) =>
    (value as { ok?: unknown } | null)?.ok === true ? success(value, report, path) : refused(value, report, path),
  );
}

const throttleUse = fields({
  address: word,
  max: orNull(whole),
  held: whole,
  waiting: whole,
  nextStartAt: orNull(ms),
  holders: listOf(word, MAX_ITEMS),
});
const waitReason = anyOf('by', {
  queue: fields({ by: oneOf('queue'), held: whole, max: whole }),
  rate: fields({ by: oneOf('rate'), until: ms }, { throttle: word, key: word }),
  needs: fields({ by: oneOf('needs'), needs: word }),
  throttle: fields({ by: oneOf('throttle'), address: word, held: whole, max: whole }),
});

/** Enough for a thousand queues with a point for each minute. */
const MAX_POINTS = 200_000;
export const seriesPoints = listOf(fields({ queue: word, at: ms, done: whole, failed: whole }), MAX_POINTS);

const ANSWERS: { readonly [Kind in InsightKind]: Check<unknown> } = {
  failures: failureGroups,
  statistics: dayStatistics,
  series: seriesPoints,
  tags: tagCounts,
  prunable: prunableJobs,
  ended: listOf(fields({ id: word, endedAt: ms }), MAX_ITEMS),
  stalled: listOf(fields({ id: word, until: ms }), MAX_ITEMS),
  storage: listOf(fields(storageFields), MAX_ITEMS),
  throttles: listOf(throttleUse, MAX_ITEMS),
  brakes: listOf(orNull(waitReason), MAX_ITEMS),
};
/** An answer of any kind. The answer has no kind field, since the caller knows which kind it asked for. */
const insightAnswer = described(
  { anyOf: Object.values(ANSWERS).map(schemaOf) },
  (value: unknown, report: Report, path: string) => {
    const problems = Object.values(ANSWERS).map((check) => problemsOf(check, value, path));
    if (!problems.some((found) => found.length === 0)) for (const args of problems[0] ?? []) report(...args);
    return value;
  },
);

function problemsOf(check: Check<unknown>, value: unknown, path: string): readonly Parameters<Report>[] {
  const problems: Parameters<Report>[] = [];
  check(value, (...args) => void problems.push(args), path);
  return problems;
}

const isTrue: Check<boolean> = flag;
const isFalse: Check<boolean> = flag;
const stateResult = orRefused(fields({ ok: isTrue, state }));
const results = (check: Check<unknown>) => listOf(check, MAX_ITEMS);

export const PORT_ANSWERS: { readonly [Name in CallName]: Check<unknown> } = {
  add: results(orRefused(fields({ ok: isTrue, outcome: oneOf(...ADD_OUTCOMES), id: word, queue: word, state }))),
  commit: results(stateResult),
  claim: fields({ jobs: listOf(job, MAX_ITEMS), now: ms, nextAt: orNull(ms) }),
  heartbeat: results(orRefused(fields({ ok: isTrue, until: ms, cancelAsked: flag, pauseAsked: flag }))),
  settle: results(stateResult),
  keepSteps: results(orRefused(fields({ ok: isTrue, step, now: ms }))),
  notify: results(orRefused(fields({ ok: isTrue, outcome: oneOf(...NOTIFY_OUTCOMES), state }))),
  cancel: results(orRefused(fields({ ok: isTrue, outcome: oneOf('cancelled', 'asked') }))),
  requeue: results(stateResult),
  move: results(stateResult),
  change: results(stateResult),
  delete: results(stateResult),
  find: listOf(orNull(job), MAX_ITEMS),
  history: historyRows,
  steps: listOf(step, MAX_STEPS),
  list: fields({ jobs: listOf(job, MAX_ITEMS), next: orNull(word) }),
  count: listOf(counts, MAX_ITEMS),
  insight: insightAnswer,
  keepWorker: orRefused(fields({ ok: isTrue, until: ms })),
  endWorker: orRefused(fields({ ok: isTrue, returned: whole })),
  workers: listOf(fields({ ...workerFields, info: anyText }), MAX_ITEMS),
  maintain: fields({
    overtaken: whole,
    expiredDrafts: whole,
    pruned: whole,
    results: whole,
    forgottenWorkers: whole,
    more: flag,
  }),
};

const storedRecord = fields({
  kind: word,
  key: anyText,
  version: whole,
  value: anyText,
  expiresAt: orNull(ms),
  updatedAt: ms,
});
export const RECORD_ANSWERS = {
  get: orNull(storedRecord),
  put: orRefused(fields({ ok: isTrue, version: whole })),
  list: listOf(storedRecord, MAX_ITEMS),
  delete: orRefused(fields({ ok: isTrue })),
};

const MAX_GAPS = 100;
export const LOG_ANSWERS = {
  append: orRefused(fields({ ok: isTrue, end: whole })),
  read: orNull(
    fields({
      text: anyText,
      from: whole,
      to: whole,
      size: whole,
      generation: whole,
      head: whole,
      dropped: whole,
      gaps: listOf(fields({ from: ms, to: ms, offset: whole }), MAX_GAPS),
    }),
  ),
};
