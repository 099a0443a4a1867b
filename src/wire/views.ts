/** What the resources answer: checks that describe it, and that tests hold the answers to. */

import type { Check, Report } from '../core/input/check.ts';
import { anything, fields, flag, listOf, object, oneOf, orNull, text } from '../core/input/check.ts';
import { described, schemaOf } from '../core/input/json-schema.ts';
import { LABELS } from '../core/job/label.ts';
import { ADD_OUTCOMES } from '../core/ports/job-store.ts';
import { REFUSAL_CODES } from '../core/ports/refusal.ts';
import type { SettingName, SettingSource } from '../core/settings/global-settings.ts';
import { SETTING_NAMES, SETTING_SOURCES } from '../core/settings/global-settings.ts';
import { dependencyRule } from '../core/settings/policy-input.ts';
import { QUEUE_STATES } from '../core/settings/settings.ts';
import { counts, failureGroups, historyRows, jobFields, state, workerFields } from './port-answers.ts';
import { backoffRecord, hookRecords, ms, whole, word } from './port-checks.ts';

const MOST = 10_000;
const anyText = text({ max: 64 * 1024 });

export const jobView = fields(
  { ...jobFields, data: anything, result: anything, label: oneOf(...LABELS), reason: anyText },
  { checkpoint: anything },
);
export const jobPage = fields({ jobs: listOf(jobView, MOST), next: orNull(word) });
const graphNode = fields({
  id: word,
  queue: word,
  name: orNull(word),
  state,
  label: oneOf(...LABELS),
  reason: anyText,
});
export const jobGraphView = fields({
  nodes: listOf(graphNode, MOST),
  edges: listOf(fields({ parent: word, child: word }), MOST * MOST),
  isWhole: flag,
});
export const jobHistory = fields({ history: historyRows });
export const jobCounts = fields({ queues: listOf(counts, MOST) });
export const groups = fields({ groups: failureGroups });
export const workerList = fields({ workers: listOf(fields({ ...workerFields, info: anything }), MOST) });

const refusal = fields({ code: oneOf(...REFUSAL_CODES), message: anyText }, { holder: word, dependents: whole });
const refusedItem = fields({ ok: flag, refusal });

/** One of many: what came of it, or `ok: false` and why not. */
export function orRefusedItem<T>(check: Check<T>): Check<T> {
  const schema = { anyOf: [schemaOf(check), schemaOf(refusedItem)] };
  return described(schema, (value: unknown, report: Report, path: string) =>
    (value as { ok?: unknown } | null)?.ok === false
      ? (refusedItem(value, report, path) as T)
      : check(value, report, path),
  );
}

export const added = fields({ id: word, queue: word, state, outcome: oneOf(...ADD_OUTCOMES) });
export const cancelled = fields({ outcome: oneOf('cancelled', 'asked'), job: jobView });
/** What a call for many jobs came to: how many did, how many did not and why, and whether there are more to do. */
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
    processes: orNull(whole),
    fileBytes: orNull(whole),
    logBytes: orNull(whole),
  }),
  stage: oneOf('copy', 'link'),
  maxRunning: orNull(whole),
  keys: orNull(fields({ by: listOf(word, 5), limit: orNull(whole) })),
  coalesce: orNull(fields({ by: listOf(word, 5) })),
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
  exhaustedGroup: orNull(word),
  onDependencyFailed: dependencyRule,
  maxRuntimeMs: orNull(ms),
  maxSilenceMs: orNull(ms),
  graceMs: ms,
  hooks: hookRecords,
  search: listOf(word, 20),
  retention: fields({ done: keep, failed: keep, cancelled: keep, results: keep, logs: keep, attachments: keep }),
});
const sources = fields(
  Object.fromEntries(SETTING_NAMES.map((name) => [name, oneOf(...SETTING_SOURCES)])) as Readonly<
    Record<SettingName, Check<SettingSource>>
  >,
);

/**
 * `env` is the names alone: the values are secrets. `problem` is what keeps this node from working it. `from` tells who set
 * each of its settings: the queue itself, somebody for every queue, or nobody.
 */
export const queueView = fields({
  name: word,
  problem: orNull(anyText),
  counts,
  settings,
  from: sources,
});
export type QueueView = ReturnType<typeof queueView>;
export const queueList = fields({ queues: listOf(queueView, MOST) });
