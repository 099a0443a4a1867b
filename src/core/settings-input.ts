/**
 * Settings and job options as people give them, durations in words, turned into what the core goes by.
 * The one place that knows every option's name, meaning and bounds.
 */

import { DEFAULT_BACKOFF } from './backoff.ts';
import type { Check, Checked, Report } from './check.ts';
import {
  checked,
  duration,
  flag,
  fraction,
  integer,
  listOf,
  object,
  oneOf,
  orNull,
  show,
  text,
  time,
} from './check.ts';
import type { Duration } from './duration.ts';
import type { Backoff, JobPolicy, UniqueKey } from './job.ts';
import type { NewJob } from './job-store.ts';
import { jobId, queueName, shownName, tag, uniqueKeyText } from './names.ts';
import type { Keep, OnLost, QueueSettings, QueueState } from './settings.ts';
import { settingsOf } from './settings.ts';

export interface BackoffInput {
  kind?: 'fixed' | 'exponential' | 'list';
  delay?: Duration;
  max?: Duration;
  /** Share of the delay that is random, 0 to 1. */
  jitter?: number;
  delays?: readonly Duration[];
}

export interface UniqueInput {
  key: string;
  scope?: 'queue' | 'store';
  until?: 'started' | 'ended';
  /** Instead of `until`: for how long after the add. */
  period?: Duration;
}

export interface KeepInput {
  for?: Duration | null;
  count?: number | null;
}

interface PolicyInput {
  retries?: number;
  /** A delay, a list of delays, or a rule. */
  backoff?: Duration | readonly Duration[] | BackoffInput;
  maxResends?: number;
  maxRuntime?: Duration;
  maxSilence?: Duration;
}

export interface AddOptions extends PolicyInput {
  id?: string;
  name?: string;
  /** Lower runs first. */
  priority?: number;
  delay?: Duration;
  runAt?: Date | number | string;
  tags?: readonly string[];
  unique?: string | UniqueInput;
  /** Keep it back until `commit`. */
  draft?: boolean;
}

export interface SettingsInput extends Omit<PolicyInput, 'maxRuntime' | 'maxSilence'> {
  state?: QueueState;
  note?: string | null;
  priority?: number;
  lease?: Duration;
  heartbeat?: Duration;
  maxCrashes?: number;
  onLost?: OnLost;
  lostCountsAs?: 'crash' | 'failure';
  lostGrace?: Duration;
  exhaustedGroup?: string | null;
  maxRuntime?: Duration | null;
  maxSilence?: Duration | null;
  grace?: Duration;
  retention?: { done?: KeepInput; failed?: KeepInput; cancelled?: KeepInput };
}

const priority = integer(-1_000_000_000, 1_000_000_000);
const count = integer(0, 1_000_000_000);
const MIN_LEASE_MS = 100;

const backoffRule = object({
  kind: oneOf('fixed', 'exponential', 'list'),
  delay: duration(),
  max: duration(),
  jitter: fraction,
  delays: listOf(duration(), 100),
});

const backoff: Check<Backoff> = (value, report, path) => {
  if (Array.isArray(value))
    return { ...DEFAULT_BACKOFF, kind: 'list', jitter: 0, delaysMs: listOf(duration(), 100)(value, report, path) };
  if (typeof value !== 'object')
    return { ...DEFAULT_BACKOFF, kind: 'fixed', jitter: 0, delayMs: duration()(value, report, path) };
  const rule = backoffRule(value, report, path) ?? {};
  if (rule.kind === 'list' && (rule.delays ?? []).length === 0)
    report(`${path}.delays`, 'must name at least one delay for kind list');
  return {
    kind: rule.kind ?? (rule.delays === undefined ? DEFAULT_BACKOFF.kind : 'list'),
    delayMs: rule.delay ?? DEFAULT_BACKOFF.delayMs,
    maxMs: rule.max ?? DEFAULT_BACKOFF.maxMs,
    jitter: rule.jitter ?? DEFAULT_BACKOFF.jitter,
    delaysMs: rule.delays ?? [],
  };
};

const uniqueRule = object({
  key: uniqueKeyText,
  scope: oneOf('queue', 'store'),
  until: oneOf('started', 'ended'),
  period: duration(1),
});

const unique: Check<UniqueKey> = (value, report, path) => {
  if (typeof value === 'string')
    return { key: uniqueKeyText(value, report, path), scope: 'queue', until: 'ended', periodMs: 0 };
  const rule = uniqueRule(value, report, path) ?? {};
  if (rule.key === undefined) report(`${path}.key`, 'is missing');
  if (rule.until !== undefined && rule.period !== undefined) report(path, 'may have until or period, not both');
  const until = rule.period === undefined ? (rule.until ?? 'ended') : 'period';
  return { key: rule.key ?? '', scope: rule.scope ?? 'queue', until, periodMs: rule.period ?? 0 };
};

const addShape = {
  id: jobId,
  name: shownName,
  priority,
  delay: duration(),
  runAt: time,
  tags: listOf(tag, 100),
  unique,
  draft: flag,
  retries: count,
  backoff,
  maxResends: count,
  maxRuntime: duration(1),
  maxSilence: duration(1),
};
const addOptions: Check<Checked<typeof addShape>> = (value, report, path) => {
  const options = object(addShape)(value, report, path);
  if (options?.delay !== undefined && options.runAt !== undefined)
    report('delay', 'and runAt say the same thing; give one of them');
  return options;
};

/** What a producer asks for, checked, as a job for the store. */
export function toNewJob(
  job: { queue: string; data: string; newId: () => string },
  options: AddOptions | undefined,
): NewJob {
  if (options === undefined) return { id: job.newId(), queue: job.queue, data: job.data };
  const given = checked('job options', options, addOptions);
  const { id, name, priority, delay, runAt, tags, unique, draft, ...rest } = given;
  return {
    id: id ?? job.newId(),
    queue: job.queue,
    data: job.data,
    ...(name !== undefined && { name }),
    ...(priority !== undefined && { priority }),
    ...(delay !== undefined && { delayMs: delay }),
    ...(runAt !== undefined && { runAt }),
    ...(tags !== undefined && { tags: [...new Set(tags)] }),
    ...(unique !== undefined && { unique }),
    ...(draft !== undefined && { draft }),
    ...(Object.keys(rest).length > 0 && { policy: toPolicy(rest) }),
  };
}

function toPolicy({
  maxRuntime,
  maxSilence,
  ...rest
}: Pick<Checked<typeof addShape>, 'retries' | 'maxResends' | 'backoff' | 'maxRuntime' | 'maxSilence'>): JobPolicy {
  return {
    ...rest,
    ...(maxRuntime !== undefined && { maxRuntimeMs: maxRuntime }),
    ...(maxSilence !== undefined && { maxSilenceMs: maxSilence }),
  };
}

const keep: Check<Keep> = (value, report, path) => {
  const given = object({ for: orNull(duration()), count: orNull(count) })(value, report, path) ?? {};
  return { ms: given.for ?? null, count: given.count ?? null };
};

const settingsShape = {
  state: oneOf('up', 'paused', 'down'),
  note: orNull(text({ max: 1_000 })),
  priority,
  lease: duration(MIN_LEASE_MS),
  heartbeat: duration(25),
  retries: count,
  backoff,
  maxResends: count,
  maxCrashes: integer(1, 1_000_000),
  onLost: oneOf('requeue', 'fail', 'hold'),
  lostCountsAs: oneOf('crash', 'failure'),
  lostGrace: duration(),
  exhaustedGroup: orNull(text({ max: 200 })),
  maxRuntime: orNull(duration(1)),
  maxSilence: orNull(duration(1)),
  grace: duration(),
  retention: object({ done: keep, failed: keep, cancelled: keep }),
};

/** Names under which a duration stands in the settings themselves. */
const MS_NAMES = {
  lease: 'leaseMs',
  heartbeat: 'heartbeatMs',
  lostGrace: 'lostGraceMs',
  maxRuntime: 'maxRuntimeMs',
  maxSilence: 'maxSilenceMs',
  grace: 'graceMs',
} as const;

/** Settings as somebody set them, merged over what was set before. Throws `bad-input` with every problem. */
export function mergeSettings(before: Partial<QueueSettings>, input: SettingsInput): Partial<QueueSettings> {
  const given = checked('queue settings', input, settings);
  const named = Object.entries(given).map(([key, value]) => [
    key in MS_NAMES ? MS_NAMES[key as keyof typeof MS_NAMES] : key,
    value,
  ]);
  const next: Partial<QueueSettings> = { ...before, ...Object.fromEntries(named) };
  return given.retention === undefined
    ? next
    : { ...next, retention: { ...settingsOf(before).retention, ...given.retention } };
}

function settings(value: unknown, report: Report, path: string): Checked<typeof settingsShape> {
  const given = object(settingsShape)(value, report, path);
  if (given?.lease !== undefined && given.heartbeat !== undefined && given.heartbeat * 2 > given.lease) {
    report('heartbeat', `must be at most half of the lease of ${given.lease} ms, not ${show(given.heartbeat)} ms`);
  }
  return given;
}

export function checkQueueName(name: unknown): string {
  return checked('queue name', name, queueName);
}
