/**
 * What the workers of this process did, from their events: durations, outcomes, failures, retries, lost leases.
 *
 * Invariant: no name that a producer chooses can exhaust memory. Queues and failure groups beyond a number are counted
 * together.
 */
import type { RunningJob } from '../core/job/job.ts';
import { readySince } from '../core/job/job.ts';
import type { WorkerEvent } from '../worker/loop/worker-event.ts';
import { family } from './catalogue.ts';
import { DurationHistogram } from './duration-histogram.ts';
import type { Family, Sample } from './metrics-text.ts';

const MAX_QUEUES = 1_000;
const MAX_GROUPS = 20;
const OTHERS = '(others)';

type Ended = Extract<WorkerEvent, { type: 'ended' }>;

/** The counts of one queue. */
class QueueMeter {
  readonly wait = new DurationHistogram();
  readonly run = new DurationHistogram();
  readonly outcomes = new Map<string, number>();
  readonly groups = new Map<string, number>();
  retries = 0;
  leaseLosses = 0;
}

export class WorkerMeter {
  readonly #queues = new Map<string, QueueMeter>();
  /** When attempts started, on the monotonic clock. */
  readonly #startedAt = new WeakMap<RunningJob, number>();

  record(event: WorkerEvent): void {
    if (event.type === 'started') this.#started(event.job);
    else if (event.type === 'ended') this.#ended(event);
  }

  families(): readonly Family[] {
    return [
      family(
        'wait_seconds',
        this.#each((meter, labels) => meter.wait.samples(labels)),
      ),
      family(
        'run_seconds',
        this.#each((meter, labels) => meter.run.samples(labels)),
      ),
      family(
        'attempts_total',
        this.#each((meter, labels) => counts(meter.outcomes, 'outcome', labels)),
      ),
      family(
        'attempt_failures_total',
        this.#each((meter, labels) => counts(meter.groups, 'group', labels)),
      ),
      family(
        'retries_total',
        this.#each((meter, labels) => [{ labels, value: meter.retries }]),
      ),
      family(
        'lease_losses_total',
        this.#each((meter, labels) => [{ labels, value: meter.leaseLosses }]),
      ),
    ];
  }

  #started(job: RunningJob): void {
    this.#startedAt.set(job, performance.now());
    // Both times are of the store's clock, which may have been set back.
    this.#of(job.queue).wait.add(Math.max(0, job.lease.claimedAt - readySince(job)) / 1_000);
  }

  #ended({ job, settlement, answer, stopReason }: Ended): void {
    const meter = this.#of(job.queue);
    const startedAt = this.#startedAt.get(job);
    if (startedAt !== undefined) meter.run.add((performance.now() - startedAt) / 1_000);
    count(meter.outcomes, settlement?.kind ?? stopReason ?? 'none');
    if (settlement?.kind === 'fail' || settlement?.kind === 'retry')
      count(meter.groups, settlement.failure.group, MAX_GROUPS);
    if (answer?.ok === true && answer.state === 'waiting' && settlement?.kind !== 'release') meter.retries += 1;
    if (stopReason === 'lease-lost' || answer?.ok === false) meter.leaseLosses += 1;
  }

  #of(queue: string): QueueMeter {
    const name = this.#queues.has(queue) || this.#queues.size < MAX_QUEUES ? queue : OTHERS;
    const meter = this.#queues.get(name) ?? new QueueMeter();
    this.#queues.set(name, meter);
    return meter;
  }

  #each(samplesOf: (meter: QueueMeter, labels: { queue: string }) => readonly Sample[]): readonly Sample[] {
    return [...this.#queues].flatMap(([queue, meter]) => samplesOf(meter, { queue }));
  }
}

function count(counted: Map<string, number>, name: string, max = Number.POSITIVE_INFINITY): void {
  const known = counted.has(name) || counted.size < max ? name : OTHERS;
  counted.set(known, (counted.get(known) ?? 0) + 1);
}

function counts(counted: ReadonlyMap<string, number>, label: string, labels: { queue: string }): readonly Sample[] {
  return [...counted].map(([name, value]) => ({ labels: { ...labels, [label]: name }, value }));
}
