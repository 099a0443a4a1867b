/** Input check of a producer's job options, and their conversion to a job for the store. */

import type { JobPolicy, UniqueKey } from '../job/job.ts';
import { displayName, jobId, newJobId, tag, uniqueKeyText } from '../job/names.ts';
import { isAddress, relayJob } from '../job/relay-request.ts';
import { traceparentText } from '../job/traceparent.ts';
import { MAX_PARENTS } from '../lifecycle/dependencies.ts';
import { badInput } from '../ports/errors.ts';
import type { NewJob } from '../ports/job-store.ts';
import type { ResourcesInput } from '../settings/limit-input.ts';
import { keyText, throttleNames, units } from '../settings/limit-input.ts';
import type { PolicyInput } from '../settings/policy-input.ts';
import { backoff, count, dependencyRule, priority } from '../settings/policy-input.ts';
import type { WebhookInput } from '../webhooks/webhook-input.ts';
import { hooks } from '../webhooks/webhook-input.ts';
import type { Check, Checked, Report } from './check.ts';
import { checked, duration, flag, listOf, object, oneOf, time } from './check.ts';
import type { Duration } from './duration.ts';
import { described, schemaOf } from './json-schema.ts';

export interface UniqueInput {
  key: string;
  scope?: 'queue' | 'store';
  until?: 'started' | 'ended';
  /** In place of `until`: how long the key is held after the add. */
  period?: Duration;
}

/** Options of a job that is added. Each overrides the setting of its queue. */
export interface AddOptions extends PolicyInput {
  /** The id of the job. Default: a new UUID. A second add with the same id adds nothing. */
  id?: string;
  /** A name to show. */
  name?: string;
  /** Lower runs first. */
  priority?: number;
  /** How long the job waits before it may start. */
  delay?: Duration;
  /** When the job may start, instead of `delay`. */
  runAt?: Date | number | string;
  /** Labels for searches and statistics. */
  tags?: readonly string[];
  /** A key that only one job holds at a time; a second add returns the job that holds it. */
  unique?: string | UniqueInput;
  /** Ids of jobs that must be done first. */
  dependsOn?: readonly string[];
  /** For a waiting job that holds the unique key: `replace` gives it this job's data, `debounce` also its run time. */
  onTaken?: 'keep' | 'replace' | 'debounce';
  /** With `debounce`: the maximum time that the job is postponed after its own add. */
  maxWait?: Duration;
  /** Names of throttles of which it needs a slot each, in place of the queue's. */
  throttles?: readonly string[];
  /** Resources that it needs of the worker that runs it, in place of the queue's: `{ cpu: 2, gpu: 1 }`. */
  needs?: ResourcesInput;
  /** If the queue has `keys`: its key, in place of the one in its data. */
  key?: string;
  /** Webhooks for this job, in addition to its queue's: addresses, or addresses with their events. */
  hooks?: readonly WebhookInput[];
  /** Holds the job back until `commit`. */
  draft?: boolean;
  /** The W3C trace context that its first attempt continues. Default: that of the span of `add`, with telemetry. */
  traceparent?: string;
  /** Only with an address as the queue: sends the job over the network even if the address is the node's own. */
  forceRemote?: boolean;
}

const uniqueRule = object({
  key: uniqueKeyText,
  scope: oneOf('queue', 'store'),
  until: oneOf('started', 'ended'),
  period: duration(1),
});

const unique: Check<UniqueKey> = described({ anyOf: [schemaOf(uniqueKeyText), schemaOf(uniqueRule)] }, readUnique);

function readUnique(value: unknown, report: Report, path: string): UniqueKey {
  if (typeof value === 'string')
    return { key: uniqueKeyText(value, report, path), scope: 'queue', until: 'ended', periodMs: 0 };
  const rule = uniqueRule(value, report, path) ?? {};
  if (rule.key === undefined) report(`${path}.key`, 'is missing');
  if (rule.until !== undefined && rule.period !== undefined) report(path, 'may have until or period, not both');
  const until = rule.period === undefined ? (rule.until ?? 'ended') : 'period';
  return { key: rule.key ?? '', scope: rule.scope ?? 'queue', until, periodMs: rule.period ?? 0 };
}

/** Every option of a job by its name. */
export const ADD_SHAPE = {
  id: newJobId,
  name: displayName,
  priority,
  delay: duration(),
  runAt: time,
  tags: listOf(tag, 100),
  unique,
  dependsOn: listOf(jobId, MAX_PARENTS),
  onTaken: oneOf('keep', 'replace', 'debounce'),
  maxWait: duration(1),
  draft: flag,
  forceRemote: flag,
  throttles: throttleNames,
  key: keyText,
  needs: units,
  retries: count,
  backoff,
  maxResends: count,
  maxRuntime: duration(1),
  maxSilence: duration(1),
  onDependencyFailed: dependencyRule,
  hooks,
  traceparent: traceparentText,
};
export type GivenOptions = Checked<typeof ADD_SHAPE>;

const addShape = object(ADD_SHAPE);

const addOptions: Check<GivenOptions> = (value, report, path) => {
  const options = addShape(value, report, path);
  if (options !== undefined) checkTimes(options, report, path);
  return options;
};

export function checkTimes(options: GivenOptions, report: Report, path: string): void {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const isPutOff = options.delay !== undefined || options.runAt !== undefined;
  if (options.onTaken !== undefined && options.unique === undefined) report(at('onTaken'), 'needs a unique key');
  if (options.maxWait !== undefined && options.onTaken !== 'debounce')
    report(at('maxWait'), 'is only allowed with onTaken debounce');
  if (options.onTaken === 'debounce' && !isPutOff) report(at('onTaken'), 'debounce needs a delay or runAt');
  if (options.delay !== undefined && options.runAt !== undefined)
    report(path === '' ? 'delay' : `${path}.delay`, 'and runAt both set the run time; give only one of them');
}

interface JobBasis {
  readonly queue: string;
  readonly data: string;
  newId(): string;
}

/** Checks a producer's options and returns the job for the store. */
export function toNewJob(job: JobBasis, options: AddOptions | undefined): NewJob {
  if (options === undefined && !isAddress(job.queue)) return bareJob(job);
  return newJobOf(job, checked('job options', options ?? {}, addOptions));
}

/** Checks options once, and returns the function that makes jobs with them. */
export function newJobsWith(options: AddOptions | undefined): (job: JobBasis) => NewJob {
  const given = checked('job options', options ?? {}, addOptions);
  const isBare = Object.keys(given).length === 0;
  return (job) => (isBare && !isAddress(job.queue) ? bareJob(job) : newJobOf(job, given));
}

function bareJob(job: JobBasis): NewJob {
  return { id: job.newId(), queue: job.queue, data: job.data };
}

/** The same with options that are checked already. A job for an address is added to the queue `relay`. */
export function newJobOf(job: JobBasis, { forceRemote, ...given }: GivenOptions): NewJob {
  if (isAddress(job.queue)) return relayJob(plainJobOf(job, given), { forceRemote: forceRemote === true });
  if (forceRemote !== undefined)
    throw badInput('job options', [{ path: 'forceRemote', message: 'is only allowed if the queue is an address' }]);
  return plainJobOf(job, given);
}

function plainJobOf(job: JobBasis, given: Omit<GivenOptions, 'forceRemote'>): NewJob {
  const { id, name, priority, delay, runAt, tags, unique, dependsOn, onTaken, maxWait = null, draft, ...rest } = given;
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
    ...(dependsOn !== undefined && { dependsOn }),
    ...(onTaken !== undefined && onTaken !== 'keep' && { onTaken: { kind: onTaken, maxWaitMs: maxWait } }),
    ...(draft !== undefined && { draft }),
    ...(Object.keys(rest).length > 0 && { policy: toPolicy(rest) }),
  };
}

function toPolicy({
  maxRuntime,
  maxSilence,
  ...rest
}: Omit<
  GivenOptions,
  'id' | 'name' | 'priority' | 'delay' | 'runAt' | 'tags' | 'unique' | 'dependsOn' | 'onTaken' | 'maxWait' | 'draft'
>): JobPolicy {
  return {
    ...rest,
    ...(maxRuntime !== undefined && { maxRuntimeMs: maxRuntime }),
    ...(maxSilence !== undefined && { maxSilenceMs: maxSilence }),
  };
}
