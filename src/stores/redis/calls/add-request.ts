/** Encodes adds. Consecutive jobs that differ only in id and data share one head. */

import type { UniqueKey } from '../../../core/job/job.ts';
import type { NewJob } from '../../../core/ports/job-store.ts';
import type { Webhook } from '../../../core/webhooks/webhook.ts';
import { DEFAULT_PROGRESS_STEP } from '../../../core/webhooks/webhook.ts';
import { checksum } from '../encoding/job-record.ts';
import { escapeText, FIELD, INLINE_LIMIT, PART } from '../encoding/layout.ts';
import { field, listValue, textField } from '../encoding/request-encoding.ts';

interface Run {
  readonly head: string;
  /** The queue of jobs without any field; null for others. */
  readonly bareQueue: string | null;
  readonly args: string[];
  count: number;
}

export function addArguments(jobs: readonly NewJob[]): string[] {
  const runs: Run[] = [];
  // A job that another of them depends on is changed by it, so the script must read it whole.
  const children = jobs.filter(({ dependsOn }) => dependsOn !== undefined);
  const awaited = new Set(children.flatMap(({ dependsOn }) => dependsOn ?? []));
  for (const job of jobs) {
    const isLong = job.data.length > INLINE_LIMIT;
    const isSpecial = isLong || !isPlain(job) || (awaited.size > 0 && awaited.has(job.id));
    let run = runs.at(-1);
    // Most jobs of a bulk add have nothing but a queue, an id and data.
    const bareQueue = isSpecial || !isBare(job) ? null : job.queue;
    if (run === undefined || bareQueue === null || run.bareQueue !== bareQueue) {
      const fields = bareQueue === null ? newJobFields(job) : '';
      const head = `${isSpecial ? 'special' : 'plain'} ${job.queue}${fields}${isLong ? `${FIELD}apart=d` : ''}`;
      if (run?.head !== head) {
        run = { head, bareQueue, args: [], count: 0 };
        runs.push(run);
      }
    }
    run.count += 1;
    const data = checksum(job.data) + escapeText(job.data);
    run.args.push(job.id, `${FIELD}:${isLong ? '' : data}`);
    if (isLong) run.args.push(data);
  }
  return runs.flatMap(runArguments);
}

function runArguments({ head, args, count }: Run): string[] {
  const fieldsAt = head.indexOf(FIELD);
  const [kind = '', queue = ''] = (fieldsAt < 0 ? head : head.slice(0, fieldsAt)).split(' ');
  return [kind, queue, fieldsAt < 0 ? '' : head.slice(fieldsAt), String(count), ...args];
}

/** Of a plain job: whether it has no fields. */
const isBare = (job: NewJob): boolean => job.name === undefined && job.policy === undefined;

function isPlain(job: NewJob): boolean {
  const isNow = job.runAt === undefined && (job.delayMs === undefined || job.delayMs === 0);
  const hasTags = job.tags !== undefined && job.tags.length > 0;
  const isAlone = job.unique === undefined && job.dependsOn === undefined;
  return isNow && isAlone && !hasTags && job.priority === undefined && job.draft !== true;
}

export function newJobFields(job: NewJob): string {
  const { policy, tags, unique } = job;
  return (
    textField('name', job.name) +
    field('priority', job.priority) +
    field('runAt', job.runAt) +
    field('delayMs', job.delayMs || undefined) +
    field('draft', job.draft === true ? 'yes' : undefined) +
    field('tags', tags === undefined || tags.length === 0 ? undefined : listValue(tags)) +
    field('unique', unique === undefined ? undefined : uniqueValue(unique)) +
    field('onTaken', job.onTaken === undefined ? undefined : `${job.onTaken.kind} ${job.onTaken.maxWaitMs ?? '-'}`) +
    textField('policy', policy === undefined ? undefined : JSON.stringify(policy)) +
    field('retries', policy?.retries) +
    field('maxResends', policy?.maxResends) +
    field('onDependencyFailed', policy?.onDependencyFailed) +
    field('dependsOn', job.dependsOn?.join(' ')) +
    field('throttles', policy?.throttles === undefined ? undefined : listValue(policy.throttles)) +
    textField('key', policy?.key) +
    field('hooks', hooksValue(policy?.hooks)) +
    field('needs', policy?.needs)
  );
}

/** Nothing in it needs to be escaped: an address is checked for that. */
const webhookText = ({ on, every = DEFAULT_PROGRESS_STEP, secret, format, url }: Webhook): string =>
  `${on.join(',')} ${every} ${secret ?? '-'} ${format ?? '-'} ${url}`;

const hooksValue = (hooks: readonly Webhook[] = []): string | undefined =>
  hooks.length === 0 ? undefined : hooks.map(webhookText).join(PART);

const uniqueValue = ({ scope, until, periodMs, key }: UniqueKey): string =>
  `${scope} ${until} ${periodMs} ${escapeText(key)}`;
