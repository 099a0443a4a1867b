/**
 * Runs one job of the queue `rq_router`: the first matching rule gives the destinations, and a copy with its files is
 * added for each. Relays send the copies.
 *
 * Invariant: the drawn destinations are saved as the checkpoint before the first copy, and a copy's id is derived from
 * the job's id and its index. So a repeated attempt finds its copies, and draws nothing again.
 */
import { createHash } from 'node:crypto';
import type { RunningJob } from '../../core/job/job.ts';
import type { RelayRequest } from '../../core/job/relay-request.ts';
import { isAddress, RELAY_QUEUE, readRelayRequest, relayRequestText } from '../../core/job/relay-request.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { NewJob } from '../../core/ports/job-store.ts';
import { copyJob } from '../../files/attachments/copy-job.ts';
import type { AttemptContext, AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import { intakeOf } from '../queues/queue-intake.ts';
import { recallRelayed } from '../relay/relay-memory.ts';
import type { Duplicator } from '../scripts/duplicate.ts';
import { addressOf } from '../scripts/script-environment.ts';
import type { Routed } from './route-job.ts';
import { candidatesOf, pick, ruleFor } from './route-job.ts';
import type { RouterRule, RouterRules } from './router-rules.ts';

export interface RouterHost extends Duplicator {
  rules(): Promise<RouterRules>;
  /** Returns those addresses whose node answers. */
  upOf(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  random(): number;
}

interface Plan {
  readonly rule: string;
  readonly to: readonly string[];
  readonly delayMs: number;
}

export async function routerAttempt(
  host: RouterHost,
  job: RunningJob,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  try {
    const plan = plannedBefore(job) ?? (await planFor(host, job, context));
    if ('kind' in plan) return plan;
    const ids: string[] = [];
    for (const [index, to] of plan.to.entries()) ids.push(await copyTo(host, job, { to, index, plan }));
    return { kind: 'complete', result: JSON.stringify({ rule: plan.rule, to: plan.to, jobs: ids }) };
  } catch (error) {
    const isKnown = error instanceof LonghaulError || (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isKnown) throw error;
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return failed('rules', isMissing ? 'router.json is missing in the data directory' : (error as Error).message);
  }
}

export function routedOf(job: Pick<RunningJob, 'data' | 'tags'>): Routed {
  const order = readRelayRequest(job.data);
  const src = (order?.data as { src?: unknown } | null | undefined)?.src;
  const source = typeof src === 'string' ? src : (order?.origin ?? '');
  return { source, destination: order?.to ?? '', tags: job.tags };
}

function plannedBefore({ checkpoint }: RunningJob): Plan | null {
  const known = checkpoint === null ? null : (JSON.parse(checkpoint) as Partial<Plan> | null);
  return Array.isArray(known?.to) ? (known as Plan) : null;
}

async function planFor(host: RouterHost, job: RunningJob, context: AttemptContext): Promise<Plan | AttemptOutcome> {
  const routed = routedOf(job);
  const rule = ruleFor(await host.rules(), routed);
  if (rule.action.kind === 'end') return endedBy(rule, rule.action.as);
  const candidates = candidatesOf(rule.action.routes, routed);
  if (candidates === null) return failed('no-destination', `rule ${rule.name}: the job has no destination queue`, true);
  const choices = candidates.filter((addresses) => addresses.length > 1).flat();
  const up = choices.length === 0 ? new Set<string>() : await host.upOf(choices, context.signal);
  const to = candidates.map((addresses) => pick(addresses, (address) => up.has(address), host.random()));
  const plan: Plan = { rule: rule.name, to, delayMs: rule.delayMs };
  await context.checkpoint(JSON.stringify(plan));
  return plan;
}

function endedBy({ name }: RouterRule, as: 'done' | 'failed'): AttemptOutcome {
  if (as === 'done') return { kind: 'complete', result: JSON.stringify({ rule: name, to: [], jobs: [] }) };
  return failed('ended', name === 'default' ? 'no rule matches' : `rule ${name} ends it`, true);
}

function failed(code: string, message: string, isFinal = false): AttemptOutcome {
  const failure = { group: `router: ${code}`, message, detail: null };
  return { kind: 'fail', failure, ...(isFinal && { final: true }) };
}

interface CopyRequest {
  readonly to: string;
  readonly index: number;
  readonly plan: Plan;
}

async function copyTo(host: RouterHost, job: RunningJob, { to, index, plan }: CopyRequest): Promise<string> {
  const id = copyId(job.id, index);
  const copy = { id, delayMs: plan.delayMs, tags: job.tags, ...(job.name !== null && { name: job.name }) };
  const order = readRelayRequest(job.data);
  const wanted = isAddress(to)
    ? await relayJobFor(host, job, { to, order })
    : await localJobFor(host, job, { to, order });
  await copyJob(host, job.id, { ...copy, ...wanted });
  return id;
}

interface Target {
  readonly to: string;
  readonly order: RelayRequest | null;
}

async function relayJobFor(
  host: RouterHost,
  job: RunningJob,
  { to, order }: Target,
): Promise<Pick<NewJob, 'queue' | 'data'>> {
  const came = await recallRelayed(host.store.records, job.id);
  const { policy, tags } = job;
  const data = relayRequestText({
    to,
    data: dataOf(job, order, to),
    job: { policy, tags, ...order?.job },
    forceRemote: order?.forceRemote ?? false,
    origin: came?.origin ?? order?.origin ?? addressOf(job, host.node),
    hops: Math.max(came?.hops ?? 0, order?.hops ?? 0),
  });
  return { queue: RELAY_QUEUE, data };
}

async function localJobFor(
  host: RouterHost,
  job: RunningJob,
  { to, order }: Target,
): Promise<Pick<NewJob, 'queue' | 'data'>> {
  const queue = to.replace(/^\/q\//, '');
  const state = await intakeOf(host, queue);
  if (state !== 'open') throw new LonghaulError('refused', `queue ${queue} is ${state}`);
  return {
    queue,
    data: JSON.stringify(dataOf(job, order, to)),
    ...(Object.keys(job.policy).length > 0 && { policy: job.policy }),
  };
}

/** An RQ message gets its new destination; other data are unchanged. */
function dataOf(job: RunningJob, order: RelayRequest | null, dest: string): unknown {
  if (order === null) return JSON.parse(job.data) as unknown;
  const { data } = order;
  return typeof data === 'object' && data !== null && 'dest' in data ? { ...data, dest } : data;
}

function copyId(id: string, index: number): string {
  const whole = `${id}~r${index}`;
  return whole.length <= 128 ? whole : `${createHash('sha256').update(id).digest('hex')}~r${index}`;
}
