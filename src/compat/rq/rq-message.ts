/**
 * A message of RQ is a job of Longhaul: the names of the one and of the other, both ways. No rule lives here.
 *
 *     prep ─ draft    que ─ waiting    run ─ running    done, relayed ─ done    err ─ failed, cancelled
 */
import { type Check, checked, flag, integer, object, text } from '../../core/input/check.ts';
import { toJsonText } from '../../core/input/json.ts';
import type { NewJob } from '../../core/ports/job-store.ts';
import { hooks } from '../../core/webhooks/webhook-input.ts';
import { DEFAULT_MAX_COUNT } from '../../node/queues/rq-view.ts';
import { rqHooks } from '../../node/webhooks/rq-webhook.ts';

const anyText = text({ max: 256 * 1024 });

/** RQ's clients write numbers as texts as well. */
const wholeNumber: Check<number> = (value, report, path) =>
  integer(0, 100_000_000_000)(typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value, report, path);
/** Given as one text it is one address: RQ dropped it without a word. An empty field of a form names none. */
const addresses: Check<readonly string[]> = (value, report, path) => {
  const given = typeof value === 'string' ? [value] : value;
  const named = Array.isArray(given) ? given.filter((address) => address !== '') : given;
  return hooks(named, report, path).map(({ url }) => url);
};
const yesOrNo: Check<boolean> = (value, report, path) =>
  flag(typeof value === 'string' ? ['1', 'true', 'yes'].includes(value) : value === 1 || value, report, path);
const dest = text({ max: 2_048, pattern: /\S/, must: 'must name a queue' });

const shape = {
  dest,
  src: anyText,
  count: wholeNumber,
  max_count: wholeNumber,
  due: wholeNumber,
  post_run_webhook: addresses,
  force_remote: yesOrNo,
  orig_msg_id: anyText,
  cloned_from: anyText,
};
const known = object(shape);

/** What a message says of itself, checked; what RQ has no name for goes along as it is. */
export function readMessage(given: Readonly<Record<string, unknown>>) {
  const named = Object.fromEntries(Object.entries(given).filter(([name]) => name in shape));
  const right = checked('message', named, known);
  if (right.dest === undefined) checked('message', { dest: '' }, known);
  const { _method, ...rest } = given;
  return { ...rest, ...right };
}
export type Message = ReturnType<typeof readMessage>;

/** `count` and `max_count` stay in the data, so that a relay passes them on. */
export function jobOfMessage(message: Message, where: { id: string; queue: string; draft: boolean }): NewJob {
  const { due, ...data } = message;
  return {
    ...where,
    data: toJsonText('message', data),
    policy: { maxResends: resendsOf(message), ...rqHooks(message.post_run_webhook) },
    ...(due !== undefined && due > 0 && { runAt: due * 1_000 }),
  };
}

/** RQ counts first and compares then: a message whose count reaches `max_count` by a resend is an err. */
export function resendsOf({ count = 0, max_count = DEFAULT_MAX_COUNT }: Pick<Message, 'count' | 'max_count'>): number {
  return Math.max(0, max_count - count - 1);
}
