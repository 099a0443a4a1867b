/**
 * Input check of a queue's settings: durations and sizes as text, turned into the values that the core uses. The only
 * place that knows every setting's name and bounds.
 */
import type { Check, Checked, Report } from '../input/check.ts';
import { checked, duration, integer, listOf, object, oneOf, orNull, show, size, text } from '../input/check.ts';
import type { Duration } from '../input/duration.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import type { Size } from '../input/size.ts';
import { queueName } from '../job/names.ts';
import type { Problem } from '../ports/errors.ts';
import { badInput } from '../ports/errors.ts';
import type { WebhookInput } from '../webhooks/webhook-input.ts';
import { hooks } from '../webhooks/webhook-input.ts';
import type { CoalesceInput, KeysInput, RateInput, ResourcesInput, StoredLogsInput } from './limit-input.ts';
import { coalesce, keys, rate, slotCount, storedLogs, throttleNames, units } from './limit-input.ts';
import type { PolicyInput } from './policy-input.ts';
import { backoff, count, dependencyRule, priority } from './policy-input.ts';
import type { LimitsInput } from './script-input.ts';
import { environment, limits, umask } from './script-input.ts';
import type { Keep, OnLost, QueueSettings, Retained, SetSettings, SettableState } from './settings.ts';
import { RETAINED, settingsOf } from './settings.ts';

export interface KeepInput {
  for?: Duration | null;
  count?: number | null;
  bytes?: Size | null;
}

/** The settings of a queue as a caller gives them. Durations and sizes may be texts such as `10m` and `1gb`. */
export interface SettingsInput extends Omit<PolicyInput, 'maxRuntime' | 'maxSilence'> {
  /** `up` starts jobs, `paused` accepts but does not start them, `down` refuses them. */
  state?: SettableState;
  /** Why the queue is paused or down. */
  note?: string | null;
  /** The priority of jobs without one of their own; lower runs first. */
  priority?: number;
  /** How many of its jobs run at once, over all workers; null for no limit. */
  maxRunning?: number | null;
  /** The fields of the data that make a key. Keys take turns, and may have a limit. */
  keys?: KeysInput | null;
  /** The fields of the data that make jobs equal: a job that starts is done for all equal jobs that wait. */
  coalesce?: CoalesceInput | null;
  /** Named throttles of which each job needs a slot. */
  throttles?: readonly string[];
  /** How many jobs start in a period, such as `100/1m`; null for no limit. */
  rate?: RateInput | null;
  /** The resources that each job needs of its worker, such as `{ cpu: 2 }`. */
  needs?: ResourcesInput;
  /** The length of a lease: how long a silent worker keeps a job. */
  lease?: Duration;
  /** How often a worker renews its leases. */
  heartbeat?: Duration;
  /** How many crashes make a job fail. */
  maxCrashes?: number;
  /** What happens to a job whose worker is lost: requeue, fail, or hold for an operator. */
  onLost?: OnLost;
  /** Whether a lost worker counts as a crash or as a failure. */
  lostCountsAs?: 'crash' | 'failure';
  /** How long an expired lease is left alone before another worker may claim the job. */
  lostGrace?: Duration;
  /** The failure group of jobs whose retries are used up; null for the group of the last failure. */
  exhaustedGroup?: string | null;
  /** The longest run time of an attempt; null for no limit. */
  maxRuntime?: Duration | null;
  /** The longest time without a sign of life; null for no limit. */
  maxSilence?: Duration | null;
  /** How long an attempt may take to stop before it is killed or abandoned. */
  grace?: Duration;
  /** Webhooks for its jobs. */
  hooks?: readonly WebhookInput[];
  /** The fields of the data by which jobs can be searched. */
  search?: readonly string[];
  /** How many days of statistics are kept. */
  statsDays?: number;
  /** How many days of histograms are kept. */
  histogramDays?: number;
  /** How long ended jobs, results, logs and attachments are kept, and how many. */
  retention?: { readonly [Kind in Retained]?: KeepInput };
  /** The most bytes of the logs that a store keeps for workers without a data directory. */
  storedLogs?: StoredLogsInput;
  /** How many of its jobs one node runs at once. */
  concurrency?: number;
  /** The path of the executable that runs its jobs; null where handlers run them. */
  script?: string | null;
  /** Arguments put before the script, such as `["nice", "-n", "5"]`. No shell reads them. */
  execPrefix?: readonly string[];
  /** `required`: a script must report its outcome itself, or the attempt fails. */
  handshake?: 'optional' | 'required';
  /** Environment variables for its scripts. */
  env?: Readonly<Record<string, string>>;
  /** The standard input of a script: the job's data, or nothing. */
  stdin?: 'data' | 'null';
  /** The niceness of its scripts. */
  nice?: number;
  /** The user, or `user:group`, that its scripts run as; only where the node runs as root. */
  user?: string | null;
  /** An octal text, such as '027'. */
  umask?: string;
  /** The resource limits of one attempt of a script. */
  limits?: LimitsInput;
  /** Whether input files are copied or linked into the working directory of a script. */
  stage?: 'copy' | 'link';
}

const MIN_LEASE_MS = 100;
const MAX_STATS_DAYS = 3_650;

const keepRule = object({ for: orNull(duration()), count: orNull(count), bytes: orNull(size) });
const keep: Check<Keep> = described(schemaOf(keepRule), (value: unknown, report: Report, path: string) => {
  const given = keepRule(value, report, path) ?? {};
  return { ms: given.for ?? null, count: given.count ?? null, bytes: given.bytes ?? null };
});

const fieldPath = text({
  max: 256,
  pattern: /^[^.\s]+(\.[^.\s]+)*$/,
  must: 'must be a field of the data, or a path such as order.id',
});

const settingsShape = {
  concurrency: integer(1, 10_000),
  script: orNull(text({ max: 4_096, pattern: /^[^\u0000]+$/, must: 'must be a path' })),
  execPrefix: listOf(text({ max: 4_096, pattern: /^[^\u0000]+$/, must: 'must be an argument of a command' }), 50),
  handshake: oneOf('optional', 'required'),
  env: environment,
  stdin: oneOf('data', 'null'),
  nice: integer(-20, 19),
  user: orNull(
    text({
      max: 256,
      pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$/,
      must: 'must be user or user:group',
    }),
  ),
  umask,
  limits,
  stage: oneOf('copy', 'link'),
  state: oneOf('up', 'paused', 'down'),
  note: orNull(text({ max: 1_000 })),
  priority,
  maxRunning: orNull(slotCount),
  keys: orNull(keys),
  coalesce: orNull(coalesce),
  throttles: throttleNames,
  rate: orNull(rate),
  needs: units,
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
  onDependencyFailed: dependencyRule,
  maxRuntime: orNull(duration(1)),
  maxSilence: orNull(duration(1)),
  grace: duration(),
  hooks,
  search: listOf(fieldPath, 20),
  statsDays: integer(1, MAX_STATS_DAYS),
  histogramDays: integer(0, MAX_STATS_DAYS),
  retention: object({ done: keep, failed: keep, cancelled: keep, results: keep, logs: keep, attachments: keep }),
  storedLogs,
};

/** Names of durations in the stored settings. */
const MS_NAMES = {
  lease: 'leaseMs',
  heartbeat: 'heartbeatMs',
  lostGrace: 'lostGraceMs',
  maxRuntime: 'maxRuntimeMs',
  maxSilence: 'maxSilenceMs',
  grace: 'graceMs',
} as const;

/**
 * Merges given settings over the earlier ones. `shared` is the global record. Throws `bad-input` with every problem.
 */
export function mergeSettings(before: SetSettings, input: SettingsInput, shared?: SetSettings): SetSettings {
  const given = checked('queue settings', input, settings);
  const named = Object.entries(given).map(([key, value]) => [keyOfSetting(key as keyof SettingsInput), value]);
  const set: SetSettings = { ...before, ...Object.fromEntries(named) };
  const next =
    given.retention === undefined
      ? set
      : { ...set, retention: { ...before.retention, ...given.retention } as QueueSettings['retention'] };
  const problems = conflictingSettings(settingsOf(next, shared));
  if (problems.length > 0) throw badInput('queue settings', problems);
  return next;
}

const REPEATED_SETTLEMENT = 'a worker that repeats a settlement must still find its job';
const STILL_RUNS = 'a worker that lost its lease may still be running the job';
/** Why nothing may be deleted before a lease could have ended. */
const KEEP_REASONS: Readonly<Record<Retained, string>> = {
  done: REPEATED_SETTLEMENT,
  failed: REPEATED_SETTLEMENT,
  cancelled: REPEATED_SETTLEMENT,
  results: 'a caller that waits for the job must still find its result',
  logs: STILL_RUNS,
  attachments: STILL_RUNS,
};

/** Returns problems between two settings, whichever of the two was set last. */
export function conflictingSettings({
  leaseMs,
  retention,
  statsDays,
  histogramDays,
}: QueueSettings): readonly Problem[] {
  const problems = RETAINED.flatMap((kind) => {
    const { ms } = retention[kind];
    if (ms === null || ms >= leaseMs) return [];
    return [
      { path: `retention.${kind}.for`, message: `must be at least the lease of ${leaseMs} ms: ${KEEP_REASONS[kind]}` },
    ];
  });
  if (histogramDays > statsDays)
    problems.push({ path: 'histogramDays', message: `must be at most statsDays, which is ${statsDays}` });
  return problems;
}

/** Returns the name of a setting in the stored settings, where durations are in milliseconds. */
export function keyOfSetting(name: keyof SettingsInput): keyof QueueSettings {
  return name in MS_NAMES ? MS_NAMES[name as keyof typeof MS_NAMES] : (name as keyof QueueSettings);
}

const settingsRules = object(settingsShape);

/** Checks settings and returns them unchanged, for `mergeSettings`. */
export const settingsInput: Check<SettingsInput> = described(
  schemaOf(settingsRules),
  (value: unknown, report: Report, path: string) => {
    settings(value, report, path);
    return value as SettingsInput;
  },
);

function settings(value: unknown, report: Report, path: string): Checked<typeof settingsShape> {
  const given = settingsRules(value, report, path);
  if (given?.lease !== undefined && given.heartbeat !== undefined && given.heartbeat * 2 > given.lease) {
    report('heartbeat', `must be at most half of the lease of ${given.lease} ms, not ${show(given.heartbeat)} ms`);
  }
  return given;
}

export function checkQueueName(name: unknown): string {
  return checked('queue name', name, queueName);
}
