/** Input check of webhooks: an address, or an address with its events. Every problem has a message. */
import type { Check, Report } from '../input/check.ts';
import { duration, fields, integer, listOf, oneOf, show, text } from '../input/check.ts';
import type { Duration } from '../input/duration.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import { ENDED_STATES } from '../job/job.ts';
import type { Webhook, WebhookEventName } from './webhook.ts';
import { SECRET_NAME, WEBHOOK_EVENTS, WEBHOOK_URL } from './webhook.ts';

/** An address alone gets the end of a job, whatever the end is. */
export type WebhookInput =
  | string
  | {
      url: string;
      /** Default: done, failed, cancelled. */
      on?: readonly WebhookEventName[];
      /** Name of a secret in the node's `hooks.secrets`. Default: `default`. */
      secret?: string;
      /** With `progress`: the size of a step in percent. Default: 25. */
      every?: number;
      /** With `silent`: how long there is no output and no progress. */
      silent?: Duration;
    };

const address: Check<string> = described(
  { type: 'string', maxLength: 800, pattern: '^https?://', description: 'an http or https address' },
  (value: unknown, report: Report, path: string): string => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
    if (url === null) report(path, `must be an address such as https://host/path, not ${show(value)}`);
    else if (url.protocol !== 'http:' && url.protocol !== 'https:')
      report(path, `must begin with http:// or https://, not ${url.protocol}`);
    else if (url.username !== '' || url.password !== '') report(path, 'must have no user and no password in it');
    else if (url.hash !== '') report(path, 'must have no # part, which is never sent');
    else if (!WEBHOOK_URL.test(url.href)) report(path, 'must have at most 800 characters, and no backslash');
    return url?.href ?? '';
  },
);

export const secretName: Check<string> = text({
  max: 64,
  pattern: SECRET_NAME,
  must: 'must be the name of a secret in the hooks.secrets of node.json, never the secret itself',
});

const events = listOf(oneOf(...WEBHOOK_EVENTS), WEBHOOK_EVENTS.length);
const rule = fields(
  { url: address },
  { on: events, secret: secretName, every: integer(1, 100), silent: duration(1_000) },
);

const webhook: Check<Webhook> = described({ anyOf: [schemaOf(address), schemaOf(rule)] }, readWebhook);

function readWebhook(value: unknown, report: Report, path: string): Webhook {
  if (typeof value === 'string') return { url: address(value, report, path), on: ENDED_STATES };
  const { url, on = ENDED_STATES, secret, every, silent } = rule(value, report, path) ?? { url: '' };
  if (typeof secret === 'string' && secret.startsWith('whsec_'))
    report(`${path}.secret`, 'must be the name of a secret, not the secret itself');
  if (on.length === 0) report(`${path}.on`, 'must name at least one event');
  if (every !== undefined && !on.includes('progress')) report(`${path}.every`, 'is only allowed with on: progress');
  if ((silent !== undefined) !== on.includes('silent'))
    report(`${path}.silent`, silent === undefined ? 'is missing: for how long?' : 'is only allowed with on: silent');
  return {
    url,
    on: [...new Set(on)],
    ...(secret !== undefined && { secret }),
    ...(every !== undefined && { every }),
    ...(silent !== undefined && { silentMs: silent }),
  };
}

const MAX_WEBHOOKS = 20;
export const hooks: Check<readonly Webhook[]> = listOf(webhook, MAX_WEBHOOKS);
