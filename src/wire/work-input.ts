/** What workers in any language say: data, results and checkpoints as JSON values, durations in words. */
import type { Check, Report } from '../core/input/check.ts';
import { anyOf, duration, fields, flag, integer, listOf, number, oneOf, orNull, text } from '../core/input/check.ts';
import { described, schemaOf } from '../core/input/json-schema.ts';
import { groupOfMessage, MAX_DETAIL_LENGTH, MAX_GROUP_LENGTH, MAX_MESSAGE_LENGTH } from '../core/job/failure.ts';
import type { Failure } from '../core/job/job.ts';
import { jobId, queueName } from '../core/job/names.ts';
import { oneOrMany } from './job-input.ts';
import { jsonValue } from './json-value.ts';
import { jobIds, whole, word } from './port-checks.ts';

const MOST = 1_000;
const lease = duration(100);
const attempt = { id: jobId, token: whole };
const words = text({ max: MAX_MESSAGE_LENGTH });

export const claimInput = fields(
  { worker: word, queues: listOf(queueName, 100) },
  { limit: integer(1, 500), lease, requestId: word, wait: duration() },
);

const beat = fields(attempt, {
  lease,
  started: fields({ pid: orNull(whole) }),
  progress: progressCheck(),
  checkpoint: jsonValue,
  data: jsonValue,
});
export const heartbeatInput = oneOrMany(beat, MOST);

function progressCheck(): Check<{ percent: number | null; text: string | null }> {
  const given = fields({}, { percent: orNull(number(0, 100)), text: orNull(words) });
  return described(schemaOf(given), (value: unknown, report: Report, path: string) => {
    const { percent = null, text: said = null } = given(value, report, path) ?? {};
    return { percent, text: said };
  });
}

const failureFields = fields(
  { message: words },
  { group: text({ max: MAX_GROUP_LENGTH }), detail: orNull(text({ max: MAX_DETAIL_LENGTH })) },
);
/** A failure without a group gets the one that its message makes. */
const failure: Check<Failure> = described(schemaOf(failureFields), (value: unknown, report: Report, path: string) => {
  const given: Partial<Failure> = failureFields(value, report, path) ?? {};
  const { message = '', detail = null } = given;
  return { message, group: given.group ?? groupOfMessage(message), detail };
});

const delay = duration();
const settlement = anyOf('kind', {
  complete: fields(
    { ...attempt, kind: oneOf('complete') },
    { result: jsonValue, data: jsonValue, next: fields({ queue: queueName }, { delay, dependsOn: jobIds }) },
  ),
  fail: fields({ ...attempt, kind: oneOf('fail'), failure }, { delay, final: flag }),
  retry: fields({ ...attempt, kind: oneOf('retry'), failure }, { delay }),
  resend: fields({ ...attempt, kind: oneOf('resend') }, { delay, reason: words }),
  release: fields({ ...attempt, kind: oneOf('release') }, { reason: words }),
  forward: fields({ ...attempt, kind: oneOf('forward'), address: words }),
});
export type SettlementInput = ReturnType<typeof settlement>;
export const settleInput = oneOrMany(settlement, MOST);
