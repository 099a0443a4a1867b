/** The requests of workers in any language: data, results and checkpoints as JSON values, durations like `5m`. */
import type { Check, Report } from '../core/input/check.ts';
import { anyOf, duration, fields, flag, integer, listOf, number, oneOf, orNull, text } from '../core/input/check.ts';
import { described, schemaOf } from '../core/input/json-schema.ts';
import { groupOfMessage, MAX_DETAIL_LENGTH, MAX_GROUP_LENGTH, MAX_MESSAGE_LENGTH } from '../core/job/failure.ts';
import type { Failure } from '../core/job/job.ts';
import { jobId, queueName } from '../core/job/names.ts';
import { throttleName } from '../core/settings/limit-input.ts';
import { oneOrMany } from './job-input.ts';
import { jsonValue } from './json-value.ts';
import { jobIds, whole, word } from './port-checks.ts';

const MAX_ITEMS = 1_000;
const lease = duration(100);
const attempt = { id: jobId, token: whole };
const message = text({ max: MAX_MESSAGE_LENGTH });

export const claimInput = fields(
  { worker: word, queues: listOf(queueName, 100) },
  { limit: integer(1, 500), lease, requestId: word, wait: duration() },
);

const heartbeat = fields(attempt, {
  lease,
  started: fields({ pid: orNull(whole) }),
  progress: progressCheck(),
  checkpoint: jsonValue,
  data: jsonValue,
});
export const heartbeatInput = oneOrMany(heartbeat, MAX_ITEMS);

function progressCheck(): Check<{ percent: number | null; text: string | null }> {
  const given = fields({}, { percent: orNull(number(0, 100)), text: orNull(message) });
  return described(schemaOf(given), (value: unknown, report: Report, path: string) => {
    const { percent = null, text: status = null } = given(value, report, path) ?? {};
    return { percent, text: status };
  });
}

const failureFields = fields(
  { message },
  { group: text({ max: MAX_GROUP_LENGTH }), detail: orNull(text({ max: MAX_DETAIL_LENGTH })) },
);
/** A failure without a group gets a group derived from its message. */
const failure: Check<Failure> = described(schemaOf(failureFields), (value: unknown, report: Report, path: string) => {
  const given: Partial<Failure> = failureFields(value, report, path) ?? {};
  const { message: failureMessage = '', detail = null } = given;
  return { message: failureMessage, group: given.group ?? groupOfMessage(failureMessage), detail };
});

const delay = duration();
const settlement = anyOf('kind', {
  complete: fields(
    { ...attempt, kind: oneOf('complete') },
    { result: jsonValue, data: jsonValue, next: fields({ queue: queueName }, { delay, dependsOn: jobIds }) },
  ),
  fail: fields({ ...attempt, kind: oneOf('fail'), failure }, { delay, final: flag }),
  retry: fields({ ...attempt, kind: oneOf('retry'), failure }, { delay, throttle: throttleName }),
  resend: fields({ ...attempt, kind: oneOf('resend') }, { delay, reason: message }),
  release: fields({ ...attempt, kind: oneOf('release') }, { reason: message }),
  forward: fields({ ...attempt, kind: oneOf('forward'), address: message }),
});
export type SettlementInput = ReturnType<typeof settlement>;
export const settleInput = oneOrMany(settlement, MAX_ITEMS);
