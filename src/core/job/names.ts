/**
 * Checks of ids, queue names and other names. They are part of URLs, file names and keys, so their alphabets are
 * narrow.
 */
import type { Check } from '../input/check.ts';
import { text } from '../input/check.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import { WEBHOOK_ID_PREFIX } from '../webhooks/webhook.ts';
import { isAddress, parseDestination } from './relay-request.ts';
import { MAX_STEP_NAME } from './step.ts';

/** No id begins with @ or #: stores keep other rows beside jobs under such names. */
export const ID_PATTERN = /^(?!@|\.{1,2}$)[A-Za-z0-9._:~@-]{1,128}$/;
const QUEUE = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export const jobId: Check<string> = text({
  max: 128,
  pattern: ID_PATTERN,
  must: "must be 1 to 128 of A-Z a-z 0-9 . _ : ~ @ - and not '.' or '..', nor begin with @",
});

/** An id that a producer chooses. Webhook jobs have a reserved prefix, by which they are recognised. */
export const newJobId: Check<string> = described(schemaOf(jobId), (value: unknown, report, path) => {
  if (typeof value === 'string' && value.startsWith(WEBHOOK_ID_PREFIX))
    report(path, `must not begin with ${WEBHOOK_ID_PREFIX}, which is reserved for webhook jobs`);
  return jobId(value, report, path);
});

const queueText = text({
  max: 128,
  pattern: QUEUE,
  must: 'must begin with a letter, digit or _ and continue with those, . or -',
});

export const queueName: Check<string> = (value, report, path) => {
  if (typeof value === 'string' && /\.(json|txt)$/.test(value))
    report(path, 'must not end in .json or .txt, which are addresses of views');
  return queueText(value, report, path);
};

/** A queue of this store, or the address of a queue on another node: http://host:3333/q/queue. */
export const destination: Check<string> = described(
  {
    anyOf: [
      { type: 'string', maxLength: 128, pattern: QUEUE.source },
      { type: 'string', maxLength: 2_048, pattern: '^https?://' },
    ],
  },
  (value: unknown, report, path) => {
    if (typeof value !== 'string' || !isAddress(value)) return queueName(value, report, path);
    if (value.length > 2_048 || parseDestination(value) === null)
      report(path, 'must be the name of a queue, or an address such as http://host:3333/q/queue');
    return value;
  },
);

/** A label for display: no control characters. */
const DISPLAYABLE = /^[^\u0000-\u001f\u007f]*$/;
export const displayName: Check<string> = text({
  max: 256,
  pattern: DISPLAYABLE,
  must: 'must have no control characters',
});
export const tag: Check<string> = text({
  max: 128,
  pattern: /^[^\u0000-\u001f\u007f]+$/,
  must: 'must be 1 to 128 characters without control characters',
});
export const uniqueKeyText: Check<string> = text({
  max: 512,
  pattern: /^[^\u0000]+$/,
  must: 'must be 1 to 512 characters',
});

/** The name of a step as a store keeps it, with the number of a repeated name. */
export const stepName: Check<string> = text({
  max: MAX_STEP_NAME,
  pattern: /^[^\u0000-\u001f\u007f]+$/,
  must: `must be 1 to ${MAX_STEP_NAME} characters without control characters`,
});
/** A name that a handler or a caller of notify chooses. */
export const eventName: Check<string> = text({
  max: MAX_STEP_NAME - 5,
  pattern: /^(?!.*#\d+$)[^\u0000-\u001f\u007f]+$/,
  must: `must be 1 to ${MAX_STEP_NAME - 5} characters without control characters, and not end in # and a number`,
});

const SCHEDULE_MAX = 96;
/** Shorter than a job id, because `<schedule>@<run time>` must be one. */
export const scheduleName: Check<string> = text({
  max: SCHEDULE_MAX,
  pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/,
  must: 'must begin with a letter, digit or _ and continue with those, . or -',
});
