/**
 * Makes one webhook call and maps the answer to an outcome.
 *
 *     2xx ──▶ done    410, or not a job of a webhook ──▶ failed for good
 *     anything else ──▶ retried with a growing delay for a day; then failed, and the next call of the same job follows
 */

import type { RunningJob } from '../../core/job/job.ts';
import type { Store } from '../../core/ports/store.ts';
import { DAY_MS } from '../../core/statistics/histogram.ts';
import type { WebhookRequest } from '../../core/webhooks/webhook.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { OutboundCall, OutboundCode } from '../../outbound/outbound-call.ts';
import type { AttemptContext, AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import type { NodeSettings } from '../node-settings.ts';
import { rqForm, rqMessageText } from './rq-webhook.ts';
import { signedHeaders, webhookId } from './sign-webhook.ts';
import { readWebhookRequest, webhookBody } from './webhook-body.ts';
import { secretsOf } from './webhook-secrets.ts';

export interface WebhookHost {
  readonly store: Store;
  readonly settings: NodeSettings;
  readonly outbound: Outbound;
  /** The data directory. */
  readonly home: string;
  /** The identity of this node's store. */
  readonly source: string;
  now(): number;
}

const MAX_DELAY_MS = 3_600_000;

type WebhookCode = OutboundCode | 'no-hook' | 'no-secret' | 'gone' | 'status';

/** A retry cannot help. */
const FINAL_CODES: ReadonlySet<WebhookCode> = new Set(['no-hook', 'gone', 'bad-address']);

/** Why a call failed. Thrown by its steps, and caught where the attempt ends. */
class WebhookFailure extends Error {
  readonly code: WebhookCode;
  /** Delay from the receiver's Retry-After. */
  readonly delayMs: number | undefined;

  constructor(code: WebhookCode, message: string, delayMs?: number) {
    super(message);
    this.name = 'WebhookFailure';
    this.code = code;
    this.delayMs = delayMs;
  }

  get isFinal(): boolean {
    return FINAL_CODES.has(this.code);
  }
}

export async function webhookAttempt(
  host: WebhookHost,
  job: RunningJob,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const order = readWebhookRequest(job);
  if (order === null) return failed(job, new WebhookFailure('no-hook', 'it was not added by a webhook'));
  const body = job.checkpoint ?? (await bodyOf(host, order));
  try {
    return { kind: 'complete', result: JSON.stringify({ status: await call(host, { job, order, body, context }) }) };
  } catch (error) {
    if (!(error instanceof WebhookFailure)) throw error;
    if (error.code === 'stopped') return { kind: 'release', reason: 'its node stops' };
    // Every try sends the same body, even when the job changes meanwhile.
    if (job.checkpoint === null) await context.checkpoint(body);
    return failed(job, error);
  }
}

/** An event older than a day is no longer delivered. */
function failed({ createdAt, lease }: RunningJob, error: WebhookFailure): AttemptOutcome {
  const isOver = error.isFinal || lease.claimedAt - createdAt >= DAY_MS;
  const failure = { group: `hook: ${error.code}`, message: error.message, detail: null };
  const { delayMs } = error;
  return { kind: 'fail', failure, ...(isOver && { final: true }), ...(delayMs !== undefined && { delayMs }) };
}

async function bodyOf({ store, settings }: WebhookHost, order: WebhookRequest): Promise<string> {
  const [job = null] = await store.jobs.find([order.job]);
  if (order.format === 'rq') return rqMessageText(order, job, settings);
  const history = order.event === 'waiting' ? await store.jobs.history(order.job) : [];
  return webhookBody(order, { job, history }, settings);
}

interface WebhookCall {
  readonly job: RunningJob;
  readonly order: WebhookRequest;
  readonly body: string;
  readonly context: AttemptContext;
}

/** Returns the status, which is 2xx. */
async function call(host: WebhookHost, given: WebhookCall): Promise<number> {
  const { timeoutMs } = host.settings.outbound.hooks;
  const answer = await host.outbound.call({
    method: 'POST',
    url: new URL(given.order.url),
    ...(await (given.order.format === 'rq' ? rqCall(given) : signedCall(host, given))),
    signal: given.context.signal,
    times: { connectMs: Math.min(timeoutMs, 10_000), idleMs: timeoutMs, answerMs: timeoutMs },
  });
  if (!answer.ok) throw new WebhookFailure(answer.problem.code, answer.problem.message);
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return status;
  if (status === 410) throw new WebhookFailure('gone', 'it answered 410: the receiver wants no more calls');
  throw new WebhookFailure('status', `it answered ${status}`, retryAfterMs(headers['retry-after']));
}

function retryAfterMs(seconds: string | undefined): number | undefined {
  return seconds !== undefined && /^\d{1,6}$/.test(seconds)
    ? Math.min(Number(seconds) * 1_000, MAX_DELAY_MS)
    : undefined;
}

type SignedRequest = Pick<OutboundCall, 'headers' | 'body'>;

async function signedCall(host: WebhookHost, { job, order, body }: WebhookCall): Promise<SignedRequest> {
  const secrets = await secretsOf(host.settings, host.home, order.secret);
  if (secrets.length === 0)
    throw new WebhookFailure('no-secret', `node.json has no secret ${order.secret ?? ''} under hooks.secrets`);
  const id = webhookId(job.id, host.source);
  const signed = signedHeaders({ id, at: host.now(), body, secrets });
  const headers = { 'content-type': 'application/json', ...ownHeaders(job), ...signed };
  return { body, headers };
}

async function rqCall({ job, body }: WebhookCall): Promise<SignedRequest> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...ownHeaders(job) };
  return { body: rqForm(body), headers };
}

/** The trace context is that of the call, or of the reported job if this node has no telemetry. */
function ownHeaders({ policy: { traceparent } }: RunningJob): Readonly<Record<string, string>> {
  return { 'user-agent': 'longhaul', ...(traceparent !== undefined && { traceparent }) };
}
