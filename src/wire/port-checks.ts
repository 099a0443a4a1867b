/**
 * What each call of the JobStore port is given when it travels: a check for every argument. The texts of jobs stay texts;
 * names and reasons are taken as widely as the stores take them, ids and queues as narrowly as they are.
 */
import type { Check, Report } from '../core/input/check.ts';
import { anyOf, fields, flag, integer, listOf, number, object, oneOf, orNull, text } from '../core/input/check.ts';
import { MAX_JSON_BYTES } from '../core/input/json.ts';
import { described } from '../core/input/json-schema.ts';
import { ENDED_STATES, JOB_STATES } from '../core/job/job.ts';
import { LABELS } from '../core/job/label.ts';
import { jobId, queueName } from '../core/job/names.ts';
import { MAX_PARENTS } from '../core/lifecycle/dependencies.ts';
import type { CallArgument, CallName } from '../core/operations/perform.ts';
import type { InsightKind, Question, QuestionOf } from '../core/ports/insight.ts';
import { dependencyRule, priority } from '../core/settings/policy-input.ts';
import type { Span } from '../core/statistics/series.ts';
import { SPAN_NAMES } from '../core/statistics/series.ts';
import type { Hook } from '../core/webhooks/webhook.ts';
import { HOOK_EVENTS, HOOK_URL, SECRET_NAME } from '../core/webhooks/webhook.ts';

const MAX_MS = 8.64e15;
/** Items of one call. The library and the workers put a thousand together. */
const MOST = 10_000;
/** Words of people and programs: what a store cuts, it cuts itself. */
const words: Check<string> = text({ max: 64 * 1024 });

export const ms: Check<number> = integer(0, MAX_MS);
export const whole: Check<number> = integer(0, Number.MAX_SAFE_INTEGER);
export const word: Check<string> = text({ max: 1_024 });

/** A JSON text that a store takes as it is. */
export const jsonText: Check<string> = described(
  {
    type: 'string',
    contentMediaType: 'application/json',
    description: `JSON, as a text of at most ${MAX_JSON_BYTES} bytes`,
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
const hookRecord = fields(
  { url: text({ max: 800, pattern: HOOK_URL }), on: listOf(oneOf(...HOOK_EVENTS), HOOK_EVENTS.length) },
  { secret: text({ max: 64, pattern: SECRET_NAME }), every: integer(1, 100), silentMs: ms, format: oneOf('rq') },
);
export const hookRecords: Check<readonly Hook[]> = listOf(hookRecord, 100);
/** As core/limits/resources.ts writes them. */
const units = text({
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
  hooks: hookRecords,
  needs: units,
});
export const uniqueRecord = fields({
  key: word,
  scope: oneOf('queue', 'store'),
  until: oneOf('started', 'ended', 'period'),
  periodMs: ms,
});
export const failureRecord = fields({
  group: word,
  message: words,
  detail: orNull(words),
});

/** Of jobs to wait for: how many are too many for one job, a store says. */
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
  { worker: word, queues: listOf(queueName, MOST), limit: integer(0, 10_000), requestId: word },
  { leaseMs: ms, offers: fields({ whole: units, free: units }) },
);

const token = whole;
const heartbeat = fields(
  { id: jobId, token },
  {
    leaseMs: ms,
    started: fields({ pid: orNull(whole) }),
    progress: fields({ percent: orNull(number(0, 100)), text: orNull(words) }),
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
  retry: fields({ ...attempt, kind: oneOf('retry'), failure: failureRecord, delayMs: ms }),
  resend: fields({ ...attempt, kind: oneOf('resend'), delayMs: ms, reason: words }),
  release: fields({ ...attempt, kind: oneOf('release'), reason: words }),
  crash: fields({ ...attempt, kind: oneOf('crash'), reason: words }),
  forward: fields({ ...attempt, kind: oneOf('forward'), address: words }),
});

const seen = { attempt: whole };
/** Which jobs, in words; times are told apart, since an address gives them as text. */
export const JOB_WORDS = {
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
    ...JOB_WORDS,
    since: ms,
    before: ms,
    after: word,
  },
);
const workerBeat = fields({
  id: word,
  host: word,
  pid: whole,
  queues: listOf(queueName, MOST),
  leaseMs: ms,
  info: jsonText,
  kind: oneOf('register', 'renew'),
});

/** A UTC day as people write it. */
export const day: Check<string> = text({
  max: 10,
  pattern: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  must: 'must be a day such as 2026-11-15',
});
export const STATISTICS_WORDS = { queue: queueName, from: day, to: day, by: oneOf('queue', 'tag', 'worker') };

export const seriesSpan: Check<Span> = oneOf(...SPAN_NAMES);

const QUESTIONS: { readonly [Kind in InsightKind]: Check<QuestionOf<Kind>> } = {
  failures: fields({ kind: oneOf('failures') }, { queue: queueName, past: flag }),
  prunable: fields({ kind: oneOf('prunable') }, { queue: queueName }),
  ended: fields({
    kind: oneOf('ended'),
    queue: queueName,
    state: oneOf(...ENDED_STATES),
    from: ms,
    limit: integer(1, MOST),
  }),
  storage: fields({ kind: oneOf('storage') }, { queue: queueName }),
  tags: fields({ kind: oneOf('tags'), limit: integer(1, MOST) }),
  statistics: fields({ kind: oneOf('statistics') }, STATISTICS_WORDS),
  series: fields({ kind: oneOf('series'), span: seriesSpan }, { queue: queueName, from: ms }),
  throttles: fields({ kind: oneOf('throttles') }),
  brakes: fields({ kind: oneOf('brakes'), ids: listOf(jobId, MOST) }),
};
const insightQuestion: Check<Question> = anyOf('kind', QUESTIONS);

const ids = listOf(jobId, MOST);

export const PORT_CHECKS: { readonly [Name in CallName]: Check<CallArgument<Name>> } = {
  add: listOf(newJob, MOST),
  commit: ids,
  claim: claimRequest,
  heartbeat: listOf(heartbeat, MOST),
  settle: listOf(settlement, MOST),
  cancel: listOf(fields({ id: jobId }, { ...seen, dependents: oneOf('cancel', 'leave') }), MOST),
  requeue: listOf(fields({ id: jobId }, { ...seen, queue: queueName, delayMs: ms, steal: flag }), MOST),
  move: listOf(fields({ id: jobId, queue: queueName }, { ...seen, steal: flag }), MOST),
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
        note: words,
        dependsOn: object({ add: jobIds, remove: jobIds }),
      },
    ),
    MOST,
  ),
  delete: ids,
  find: ids,
  history: jobId,
  list: jobQuery,
  count: orAbsent(listOf(queueName, MOST)),
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
