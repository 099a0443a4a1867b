/**
 * The arguments of the JobStore port over HTTP: a check for each call. JSON texts of jobs stay texts. Names and reasons
 * are checked as loosely as the stores check them; ids and queue names strictly.
 */
import type { Check, Report } from '../core/input/check.ts';
import { anyOf, fields, flag, integer, listOf, number, object, oneOf, orNull, text } from '../core/input/check.ts';
import { MAX_JSON_BYTES } from '../core/input/json.ts';
import { described } from '../core/input/json-schema.ts';
import { ENDED_STATES, JOB_STATES } from '../core/job/job.ts';
import { LABELS } from '../core/job/label.ts';
import { eventName, jobId, queueName, stepName } from '../core/job/names.ts';
import { STEP_KINDS } from '../core/job/step.ts';
import { traceparentText } from '../core/job/traceparent.ts';
import { MAX_PARENTS } from '../core/lifecycle/dependencies.ts';
import type { CallArgument, CallName } from '../core/operations/perform.ts';
import type { InsightKind, InsightQuery, InsightQueryOf } from '../core/ports/insight.ts';
import { dependencyRule, priority } from '../core/settings/policy-input.ts';
import type { Span } from '../core/statistics/series.ts';
import { SPAN_NAMES } from '../core/statistics/series.ts';
import type { Webhook } from '../core/webhooks/webhook.ts';
import { SECRET_NAME, WEBHOOK_EVENTS, WEBHOOK_URL } from '../core/webhooks/webhook.ts';

const MAX_MS = 8.64e15;
/** The limit of items in one call. The library and the workers send batches of a thousand. */
const MAX_ITEMS = 10_000;
/** Free text, such as a reason or a message. The store itself truncates what is too long for it. */
const freeText: Check<string> = text({ max: 64 * 1024 });

export const ms: Check<number> = integer(0, MAX_MS);
export const whole: Check<number> = integer(0, Number.MAX_SAFE_INTEGER);
export const word: Check<string> = text({ max: 1_024 });

/** A JSON text that a store keeps unchanged. */
export const jsonText: Check<string> = described(
  {
    type: 'string',
    contentMediaType: 'application/json',
    description: `JSON text of at most ${MAX_JSON_BYTES} bytes`,
  },
  (value: unknown, report: Report, path: string): string => {
    const given = text({ max: MAX_JSON_BYTES })(value, report, path);
    const problem = typeof value === 'string' ? jsonProblem(value) : null;
    if (problem !== null) report(path, problem);
    return given;
  },
);

function jsonProblem(value: string): string | null {
  if (value.length * 3 > MAX_JSON_BYTES && new TextEncoder().encode(value).length > MAX_JSON_BYTES)
    return `must have at most ${MAX_JSON_BYTES} bytes; put large content into an attachment`;
  try {
    JSON.parse(value);
    return null;
  } catch {
    return 'must be valid JSON';
  }
}

export const backoffRecord = fields({
  kind: oneOf('fixed', 'exponential', 'list'),
  delayMs: ms,
  maxMs: ms,
  jitter: number(0, 1),
  delaysMs: listOf(ms, 100),
});
const webhookRecord = fields(
  { url: text({ max: 800, pattern: WEBHOOK_URL }), on: listOf(oneOf(...WEBHOOK_EVENTS), WEBHOOK_EVENTS.length) },
  { secret: text({ max: 64, pattern: SECRET_NAME }), every: integer(1, 100), silentMs: ms, format: oneOf('rq') },
);
export const webhookRecords: Check<readonly Webhook[]> = listOf(webhookRecord, 100);
/** The format of core/limits/resources.ts. */
const resources = text({
  max: 1_000,
  pattern: /^$|^[A-Za-z]\w*=\d+(,[A-Za-z]\w*=\d+)*$/,
  must: 'must be like cpu=2,gpu=1',
});
export const policyRecord = object({
  retries: whole,
  maxResends: whole,
  backoff: backoffRecord,
  maxRuntimeMs: ms,
  maxSilenceMs: ms,
  onDependencyFailed: dependencyRule,
  throttles: listOf(word, 20),
  key: word,
  hooks: webhookRecords,
  needs: resources,
  traceparent: traceparentText,
});
export const uniqueRecord = fields({
  key: word,
  scope: oneOf('queue', 'store'),
  until: oneOf('started', 'ended', 'period'),
  periodMs: ms,
});
export const failureRecord = fields({
  group: word,
  message: freeText,
  detail: orNull(freeText),
});

/** Ids of jobs to wait for. The store enforces the exact limit per job. */
export const jobIds = listOf(jobId, 2 * MAX_PARENTS);

const newJob = fields(
  { id: jobId, queue: queueName, data: jsonText },
  {
    name: word,
    priority,
    runAt: ms,
    delayMs: ms,
    tags: listOf(word, 100),
    policy: policyRecord,
    unique: uniqueRecord,
    dependsOn: jobIds,
    onTaken: fields({ kind: oneOf('replace', 'debounce', 'follow'), maxWaitMs: orNull(ms) }),
    draft: flag,
  },
);

const claimRequest = fields(
  { worker: word, queues: listOf(queueName, MAX_ITEMS), limit: integer(0, 10_000), requestId: word },
  { leaseMs: ms, offers: fields({ whole: resources, free: resources }) },
);

const token = whole;
const heartbeat = fields(
  { id: jobId, token },
  {
    leaseMs: ms,
    started: fields({ pid: orNull(whole) }),
    progress: fields({ percent: orNull(number(0, 100)), text: orNull(freeText) }),
    checkpoint: jsonText,
    data: jsonText,
  },
);

const attempt = { id: jobId, token };
export const settlement = anyOf('kind', {
  complete: fields(
    { ...attempt, kind: oneOf('complete') },
    { result: jsonText, data: jsonText, next: fields({ queue: queueName, delayMs: ms }, { dependsOn: jobIds }) },
  ),
  fail: fields({ ...attempt, kind: oneOf('fail'), failure: failureRecord, delayMs: ms }, { final: flag }),
  retry: fields({ ...attempt, kind: oneOf('retry'), failure: failureRecord, delayMs: ms }, { throttle: word }),
  resend: fields({ ...attempt, kind: oneOf('resend'), delayMs: ms, reason: freeText }),
  release: fields({ ...attempt, kind: oneOf('release'), reason: freeText }),
  crash: fields({ ...attempt, kind: oneOf('crash'), reason: freeText }),
  forward: fields({ ...attempt, kind: oneOf('forward'), address: freeText }),
  suspend: fields({
    ...attempt,
    kind: oneOf('suspend'),
    until: orNull(ms),
    event: orNull(word),
    children: orNull(jobIds),
  }),
});

const stepWrite = fields(
  { ...attempt, kind: oneOf(...STEP_KINDS), name: stepName, status: oneOf('waiting', 'done', 'failed') },
  { result: jsonText, failure: freeText, attempts: whole, ranMs: ms, delayMs: ms },
);

const seen = { attempt: whole };
/** The filters of a job query, without times: a URL query has them as text. */
export const JOB_FILTER = {
  queue: queueName,
  state: oneOf(...JOB_STATES),
  label: oneOf(...LABELS),
  tag: word,
  name: word,
  worker: word,
  parent: jobId,
  child: jobId,
  group: word,
};
const jobQuery = fields(
  { order: oneOf('newest', 'claim'), limit: integer(0, 10_000) },
  {
    ...JOB_FILTER,
    since: ms,
    before: ms,
    after: word,
  },
);
const workerBeat = fields({
  id: word,
  host: word,
  pid: whole,
  queues: listOf(queueName, MAX_ITEMS),
  leaseMs: ms,
  info: jsonText,
  kind: oneOf('register', 'renew'),
});

/** A UTC day. */
export const day: Check<string> = text({
  max: 10,
  pattern: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  must: 'must be a day such as 2026-11-15',
});
export const STATISTICS_FILTER = { queue: queueName, from: day, to: day, by: oneOf('queue', 'tag', 'worker') };

export const seriesSpan: Check<Span> = oneOf(...SPAN_NAMES);

const QUESTIONS: { readonly [Kind in InsightKind]: Check<InsightQueryOf<Kind>> } = {
  failures: fields({ kind: oneOf('failures') }, { queue: queueName, past: flag }),
  prunable: fields({ kind: oneOf('prunable') }, { queue: queueName }),
  ended: fields({
    kind: oneOf('ended'),
    queue: queueName,
    state: oneOf(...ENDED_STATES),
    from: ms,
    limit: integer(1, MAX_ITEMS),
  }),
  stalled: fields({ kind: oneOf('stalled'), queue: queueName, limit: integer(1, MAX_ITEMS) }),
  storage: fields({ kind: oneOf('storage') }, { queue: queueName }),
  tags: fields({ kind: oneOf('tags'), limit: integer(1, MAX_ITEMS) }),
  statistics: fields({ kind: oneOf('statistics') }, STATISTICS_FILTER),
  series: fields({ kind: oneOf('series'), span: seriesSpan }, { queue: queueName, from: ms }),
  throttles: fields({ kind: oneOf('throttles') }),
  brakes: fields({ kind: oneOf('brakes'), ids: listOf(jobId, MAX_ITEMS) }),
};
const insightQuestion: Check<InsightQuery> = anyOf('kind', QUESTIONS);

const ids = listOf(jobId, MAX_ITEMS);

export const PORT_CHECKS: { readonly [Name in CallName]: Check<CallArgument<Name>> } = {
  add: listOf(newJob, MAX_ITEMS),
  commit: ids,
  claim: claimRequest,
  heartbeat: listOf(heartbeat, MAX_ITEMS),
  settle: listOf(settlement, MAX_ITEMS),
  keepSteps: listOf(stepWrite, MAX_ITEMS),
  notify: listOf(fields({ id: jobId, name: eventName, data: jsonText }), MAX_ITEMS),
  cancel: listOf(fields({ id: jobId }, { ...seen, dependents: oneOf('cancel', 'leave') }), MAX_ITEMS),
  requeue: listOf(
    fields({ id: jobId }, { ...seen, queue: queueName, delayMs: ms, steal: flag, fresh: flag }),
    MAX_ITEMS,
  ),
  move: listOf(fields({ id: jobId, queue: queueName }, { ...seen, steal: flag }), MAX_ITEMS),
  change: listOf(
    fields(
      { id: jobId },
      {
        ...seen,
        priority,
        tags: listOf(word, 100),
        runAt: ms,
        name: word,
        data: jsonText,
        pause: flag,
        note: freeText,
        dependsOn: object({ add: jobIds, remove: jobIds }),
      },
    ),
    MAX_ITEMS,
  ),
  delete: ids,
  find: ids,
  history: jobId,
  steps: jobId,
  list: jobQuery,
  count: orAbsent(listOf(queueName, MAX_ITEMS)),
  insight: insightQuestion,
  keepWorker: workerBeat,
  endWorker: fields({ id: word, kind: oneOf('fail', 'deregister') }),
  workers: orAbsent(object({})),
  maintain: fields({ limit: integer(0, 100_000) }),
};

function orAbsent<T>(check: Check<T>): Check<T | undefined> {
  return described(check.schema ?? {}, (value: unknown, report: Report, path: string) =>
    value === undefined ? undefined : check(value, report, path),
  );
}
