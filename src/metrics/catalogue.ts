/**
 * Every metric, by its name without the prefix. docs/metrics.md has the same list, and a test compares both with the
 * output of a node and of the library.
 *
 * `store`: read from the store at each request, so every process shows the same value. `process`: what the workers of this
 * process did, to be added up. `node`: only a node has it.
 */
import type { Family, Sample } from './metrics-text.ts';

interface Metric {
  readonly type: Family['type'];
  readonly scope: 'store' | 'process' | 'node';
  readonly help: string;
}

// Long because it is a list.
export const METRICS = {
  jobs: { type: 'gauge', scope: 'store', help: 'Jobs by queue and state.' },
  waiting_jobs: { type: 'gauge', scope: 'store', help: 'Waiting jobs by queue and wait reason.' },
  oldest_wait_seconds: {
    type: 'gauge',
    scope: 'store',
    help: 'How long the oldest of the next jobs of a queue could have been claimed.',
  },
  workers: { type: 'gauge', scope: 'store', help: 'Registered workers by state: live or lost.' },
  throttle_slots: { type: 'gauge', scope: 'store', help: 'Slots of a named throttle.' },
  throttle_slots_used: { type: 'gauge', scope: 'store', help: 'Slots of a named throttle that jobs hold.' },
  throttle_waiting_jobs: { type: 'gauge', scope: 'store', help: 'Jobs that wait for a named throttle.' },
  throttle_next_start_seconds: {
    type: 'gauge',
    scope: 'store',
    help: 'Time until a job of a named throttle may start, by its rate or a pause; the longest of its keys, 0 if all may.',
  },
  storage_bytes: { type: 'gauge', scope: 'store', help: 'Size of ended jobs by queue and state, and of handler logs.' },
  schedules: { type: 'gauge', scope: 'store', help: 'Schedules by state: active or paused.' },
  late_schedules: { type: 'gauge', scope: 'store', help: 'Schedules whose run time passed more than 10 seconds ago.' },
  schedule_delay_seconds: { type: 'gauge', scope: 'store', help: 'How late the latest schedule is.' },
  outbox_lag_seconds: { type: 'gauge', scope: 'store', help: 'Age of the oldest outbox row that is not relayed.' },
  outbox_waiting: { type: 'gauge', scope: 'store', help: 'Outbox rows that are not relayed yet.' },
  outbox_failed: {
    type: 'gauge',
    scope: 'store',
    help: 'Outbox rows that cannot be relayed until they are corrected.',
  },
  outbox_report_age_seconds: { type: 'gauge', scope: 'store', help: 'Time since a relay of the outbox reported.' },
  store_up: { type: 'gauge', scope: 'store', help: 'Whether the store answers.' },
  store_latency_seconds: { type: 'gauge', scope: 'store', help: 'Time the store took to count its jobs.' },
  wait_seconds: {
    type: 'histogram',
    scope: 'process',
    help: 'Time from when a job could be claimed until its attempt started.',
  },
  run_seconds: { type: 'histogram', scope: 'process', help: 'Time from the start of an attempt until its settlement.' },
  attempts_total: { type: 'counter', scope: 'process', help: 'Attempts that ended, by outcome.' },
  attempt_failures_total: { type: 'counter', scope: 'process', help: 'Attempts that failed, by failure group.' },
  retries_total: { type: 'counter', scope: 'process', help: 'Attempts after which the job waits for another attempt.' },
  lease_losses_total: { type: 'counter', scope: 'process', help: 'Attempts that lost their lease.' },
  slots: { type: 'gauge', scope: 'process', help: 'Slots of the workers of this process.' },
  slots_used: { type: 'gauge', scope: 'process', help: 'Slots that running attempts take.' },
  capacity: { type: 'gauge', scope: 'process', help: 'Capacity of this process for jobs that need resources.' },
  capacity_used: { type: 'gauge', scope: 'process', help: 'Capacity that running jobs take.' },
  event_loop_delay_seconds: {
    type: 'summary',
    scope: 'process',
    help: 'Event loop delay; the quantiles cover the time since the last read.',
  },
  metric_source_up: { type: 'gauge', scope: 'process', help: 'Whether a source of metrics could be read.' },
  added_total: { type: 'counter', scope: 'node', help: 'Jobs added to the store.' },
  claims_total: { type: 'counter', scope: 'node', help: 'Attempts started, by any worker of the store.' },
  settles_total: { type: 'counter', scope: 'node', help: 'Attempts ended, by outcome, of any worker of the store.' },
  failures_total: { type: 'counter', scope: 'node', help: 'Attempts that failed, of any worker of the store.' },
  nodes: { type: 'gauge', scope: 'node', help: 'Nodes of the store by state: up, draining, stopped or gone.' },
  info: { type: 'gauge', scope: 'node', help: 'Version of the node.' },
  runner_up: { type: 'gauge', scope: 'node', help: 'Whether the runner process, which starts scripts, is alive.' },
  disk_free_bytes: { type: 'gauge', scope: 'node', help: 'Free space on the disk of the data directory.' },
  resident_memory_bytes: { type: 'gauge', scope: 'node', help: 'Resident memory of the node process.' },
  start_time_seconds: { type: 'gauge', scope: 'node', help: 'Start time of the node, in seconds since the epoch.' },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;

export const PREFIX = 'longhaul_';

/** Returns a family of the catalogue with its samples. */
export function family(name: MetricName, samples: readonly Sample[]): Family {
  const { type, help } = METRICS[name];
  return { name: PREFIX + name, help, type, samples };
}

/** Returns the family of a single value; without a sample if there is no value. */
export function single(name: MetricName, value: number | null): Family {
  return family(name, value === null ? [] : [{ value }]);
}
