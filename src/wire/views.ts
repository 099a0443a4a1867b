/** The answers of the API, as checks: they give the schemas, and the tests validate answers with them. */

import type { Check, Report } from '../core/input/check.ts';
import { anything, fields, flag, listOf, object, oneOf, orNull, text } from '../core/input/check.ts';
import { described, schemaOf } from '../core/input/json-schema.ts';
import { LABELS } from '../core/job/label.ts';
import { MAX_STEPS } from '../core/job/step.ts';
import { ADD_OUTCOMES, NOTIFY_OUTCOMES } from '../core/ports/job-store.ts';
import { REFUSAL_CODES } from '../core/ports/refusal.ts';
import type { SettingName, SettingSource } from '../core/settings/global-settings.ts';
import { SETTING_NAMES, SETTING_SOURCES } from '../core/settings/global-settings.ts';
import { dependencyRule } from '../core/settings/policy-input.ts';
import { QUEUE_STATES } from '../core/settings/settings.ts';
import { counts, failureGroups, historyRows, jobFields, state, stepFields, workerFields } from './port-answers.ts';
import { backoffRecord, ms, webhookRecords, whole, word } from './port-checks.ts';

const MAX_ITEMS = 10_000;
const anyText = text({ max: 64 * 1024 });

export const jobView = fields(
  { ...jobFields, data: anything, result: anything, label: oneOf(...LABELS), reason: anyText },
  { checkpoint: anything },
);
export const jobPage = fields({ jobs: listOf(jobView, MAX_ITEMS), next: orNull(word) });
const graphNode = fields({
  id: word,
  queue: word,
  name: orNull(word),
  state,
  label: oneOf(...LABELS),
  reason: anyText,
});
export const jobGraphView = fields({
  nodes: listOf(graphNode, MAX_ITEMS),
  edges: listOf(fields({ parent: word, child: word }), MAX_ITEMS * MAX_ITEMS),
  isWhole: flag,
});
export const jobHistory = fields({ history: historyRows });
export const jobSteps = fields({ steps: listOf(fields({ ...stepFields, result: anything }), MAX_STEPS) });
export const jobCounts = fields({ queues: listOf(counts, MAX_ITEMS) });
export const groups = fields({ groups: failureGroups });
export const workerList = fields({ workers: listOf(fields({ ...workerFields, info: anything }), MAX_ITEMS) });

const refusal = fields({ code: oneOf(...REFUSAL_CODES), message: anyText }, { holder: word, dependents: whole });
const refusedItem = fields({ ok: flag, refusal });

/** A result in a list: the result itself, or `ok: false` with the refusal. */
export function orRefusedItem<T>(check: Check<T>): Check<T> {
  const schema = { anyOf: [schemaOf(check), schemaOf(refusedItem)] };
  return described(schema, (value: unknown, report: Report, path: string) =>
    (value as { ok?: unknown } | null)?.ok === false
      ? (refusedItem(value, report, path) as T)
      : check(value, report, path),
  );
}

export const added = fields({ id: word, queue: word, state, outcome: oneOf(...ADD_OUTCOMES) });
export const notified = fields({ outcome: oneOf(...NOTIFY_OUTCOMES), job: jobView });
export const cancelled = fields({ outcome: oneOf('cancelled', 'asked'), job: jobView });
/** The result of a bulk call: how many succeeded, how many were refused by code, and whether more jobs match. */
export const bulkResult = fields({
  ok: whole,
  refused: object(codes(whole)),
  more: flag,
});
export const matching = fields({ count: whole, awaited: whole, more: flag });
export const returned = fields({ returned: whole });

function codes(check: Check<number>): Record<(typeof REFUSAL_CODES)[number], Check<number>> {
  return Object.fromEntries(REFUSAL_CODES.map((code) => [code, check])) as never;
}

const keep = fields({ ms: orNull(ms), count: orNull(whole), bytes: orNull(whole) });
const settings = fields({
  state: oneOf(...QUEUE_STATES),
  note: orNull(anyText),
  concurrency: whole,
  script: orNull(anyText),
  execPrefix: listOf(anyText, 50),
  handshake: oneOf('optional', 'required'),
  env: listOf(word, 500),
  stdin: oneOf('data', 'null'),
  nice: anything,
  user: orNull(word),
  umask: whole,
  limits: fields({
    cpuMs: orNull(ms),
    memoryBytes: orNull(whole),
    addressSpaceBytes: orNull(whole),
    processes: orNull(whole),
    fileBytes: orNull(whole),
    logBytes: orNull(whole),
  }),
  stage: oneOf('copy', 'link'),
  maxRunning: orNull(whole),
  keys: orNull(fields({ by: listOf(word, 5), limit: orNull(whole) })),
  coalesce: orNull(fields({ by: listOf(word, 5) }, { scheduled: flag })),
  needs: anyText,
  throttles: listOf(word, 20),
  rate: orNull(fields({ count: whole, ms })),
  priority: anything,
  leaseMs: ms,
  heartbeatMs: ms,
  retries: whole,
  backoff: backoffRecord,
  maxResends: whole,
  maxCrashes: whole,
  onLost: oneOf('requeue', 'fail', 'hold'),
  lostCountsAs: oneOf('crash', 'failure'),
  lostGraceMs: ms,
  statsDays: whole,
  histogramDays: whole,
  storedLogs: fields({ attempt: whole, queue: whole }),
  exhaustedGroup: orNull(word),
  onDependencyFailed: dependencyRule,
  maxRuntimeMs: orNull(ms),
  maxSilenceMs: orNull(ms),
  graceMs: ms,
  hooks: webhookRecords,
  search: listOf(word, 20),
  retention: fields({ done: keep, failed: keep, cancelled: keep, results: keep, logs: keep, attachments: keep }),
});
const sources = fields(
  Object.fromEntries(SETTING_NAMES.map((name) => [name, oneOf(...SETTING_SOURCES)])) as Readonly<
    Record<SettingName, Check<SettingSource>>
  >,
);

/**
 * `env` has names only, since the values are secrets. `problem` is why this node does not work the queue. `from` gives the
 * source of each setting: the queue, the settings for all queues, or the default.
 */
export const queueView = fields({
  name: word,
  problem: orNull(anyText),
  counts,
  settings,
  from: sources,
});
export type QueueView = ReturnType<typeof queueView>;
export const queueList = fields({ queues: listOf(queueView, MAX_ITEMS) });
