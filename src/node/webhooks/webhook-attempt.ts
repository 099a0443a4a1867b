/**
 * One try of one call, and what its end means for the job.
 *
 *     2xx ──▶ done    410, or no hook's job ──▶ failed for good
 *     anything else ──▶ tried again with a growing delay, for a day; then failed, and the next of the same job is called
 */

import type { RunningJob } from '../../core/job/job.ts';
import type { Store } from '../../core/ports/store.ts';
import { DAY_MS } from '../../core/statistics/histogram.ts';
import type { HookOrder } from '../../core/webhooks/webhook.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { OutboundCall } from '../../outbound/outbound-call.ts';
import type { AttemptContext, RunOutcome } from '../../worker/attempt/run-outcome.ts';
import type { NodeSettings } from '../node-settings.ts';
import { rqForm, rqMessageText } from './rq-webhook.ts';
import { signedHeaders, webhookId } from './sign-webhook.ts';
import { hookBody, readHookOrder } from './webhook-body.ts';
import { HookFailure } from './webhook-failure.ts';
import { secretsOf } from './webhook-secrets.ts';

export interface HookHost {
  readonly store: Store;
  readonly settings: NodeSettings;
  readonly outbound: Outbound;
  /** The home folder. */
  readonly home: string;
  /** The identity of this node's store. */
  readonly source: string;
  now(): number;
}

const MOST_DELAY_MS = 3_600_000;

export async function hookAttempt(host: HookHost, job: RunningJob, context: AttemptContext): Promise<RunOutcome> {
  const order = readHookOrder(job);
  if (order === null) return failed(job, new HookFailure('no-hook', 'it was not written by a hook'));
  const body = job.checkpoint ?? (await bodyOf(host, order));
  try {
    return { kind: 'complete', result: JSON.stringify({ status: await call(host, { job, order, body, context }) }) };
  } catch (error) {
    if (!(error instanceof HookFailure)) throw error;
    if (error.code === 'stopped') return { kind: 'release', reason: 'it was told to stop' };
    // Every try says the same, whatever becomes of the job meanwhile.
    if (job.checkpoint === null) await context.checkpoint(body);
    return failed(job, error);
  }
}

/** What is older than a day is no news any more. */
function failed({ createdAt, lease }: RunningJob, error: HookFailure): RunOutcome {
  const isOver = error.isFinal || lease.claimedAt - createdAt >= DAY_MS;
  const failure = { group: `hook: ${error.code}`, message: error.message, detail: null };
  const { delayMs } = error;
  return { kind: 'fail', failure, ...(isOver && { final: true }), ...(delayMs !== undefined && { delayMs }) };
}

async function bodyOf({ store, settings }: HookHost, order: HookOrder): Promise<string> {
  const [about = null] = await store.jobs.find([order.job]);
  return order.format === 'rq' ? rqMessageText(order, about, settings) : hookBody(order, about, settings);
}

interface Try {
  readonly job: RunningJob;
  readonly order: HookOrder;
  readonly body: string;
  readonly context: AttemptContext;
}

/** The status that it was answered with, which is one of success. */
async function call(host: HookHost, given: Try): Promise<number> {
  const { timeoutMs } = host.settings.outbound.hooks;
  const answer = await host.outbound.call({
    method: 'POST',
    url: new URL(given.order.url),
    ...(await (given.order.format === 'rq' ? rqCall(given) : signedCall(host, given))),
    signal: given.context.signal,
    times: { connectMs: Math.min(timeoutMs, 10_000), idleMs: timeoutMs, answerMs: timeoutMs },
  });
  if (!answer.ok) throw new HookFailure(answer.problem.code, answer.problem.message);
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return status;
  if (status === 410) throw new HookFailure('gone', 'it answered 410: it wants no more calls');
  throw new HookFailure('status', `it answered ${status}`, askedDelay(headers['retry-after']));
}

function askedDelay(seconds: string | undefined): number | undefined {
  return seconds !== undefined && /^\d{1,6}$/.test(seconds)
    ? Math.min(Number(seconds) * 1_000, MOST_DELAY_MS)
    : undefined;
}

type Said = Pick<OutboundCall, 'headers' | 'body'>;

async function signedCall(host: HookHost, { job, order, body }: Try): Promise<Said> {
  const secrets = await secretsOf(host.settings, host.home, order.secret);
  if (secrets.length === 0)
    throw new HookFailure('no-secret', `node.json has no secret ${order.secret ?? ''} under hooks.secrets`);
  const id = webhookId(job.id, host.source);
  const signed = signedHeaders({ id, at: host.now(), body, secrets });
  return { body, headers: { 'content-type': 'application/json', 'user-agent': 'longhaul', ...signed } };
}

async function rqCall({ body }: Try): Promise<Said> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'longhaul' };
  return { body: rqForm(body), headers };
}
