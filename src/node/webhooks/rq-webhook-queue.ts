/**
 * RQ's queue `webhook`: a message is a call, with the address in `param1` and the payload in `param2`. A call that fails
 * is resent later and later, as often as the message's `max_count` allows. Calls of `post_run_webhook` do not need it.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { AttemptContext, AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import type { NodeSettings } from '../node-settings.ts';
import { countOf, dataOf } from '../queues/rq-view.ts';
import { rqForm } from './rq-webhook.ts';

export const WEBHOOK_QUEUE = 'webhook';
const RESEND_MS = 60_000;

export async function rqWebhookAttempt(
  { outbound, settings }: { readonly outbound: Outbound; readonly settings: NodeSettings },
  job: RunningJob,
  { signal }: Pick<AttemptContext, 'signal'>,
): Promise<AttemptOutcome> {
  const { param1, param2 } = dataOf(job);
  if (typeof param1 !== 'string' || !URL.canParse(param1))
    return failed(`param1 must be an http address, not ${String(param1)}`);
  const { timeoutMs } = settings.outbound.hooks;
  const payload = typeof param2 === 'string' ? param2 : JSON.stringify(param2 ?? null);
  const answer = await outbound.call({
    method: 'POST',
    url: new URL(param1),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: rqForm(payload),
    signal,
    times: { connectMs: Math.min(timeoutMs, 10_000), idleMs: timeoutMs, answerMs: timeoutMs },
  });
  if (!answer.ok && answer.problem.code === 'stopped') return { kind: 'release', reason: 'its node stops' };
  if (answer.ok && answer.status >= 200 && answer.status < 300)
    return { kind: 'complete', result: JSON.stringify({ status: `it answered ${answer.status}` }) };
  const reason = answer.ok ? `it answered ${answer.status}` : answer.problem.message;
  return { kind: 'resend', delayMs: (countOf(job) + 1) ** 2 * RESEND_MS, reason };
}

function failed(message: string): AttemptOutcome {
  return { kind: 'fail', failure: { group: 'webhook', message, detail: null }, final: true };
}
