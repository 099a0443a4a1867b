/** What ids, queues and other names may look like. They stand in URLs, file names and keys, so they are narrow. */
import type { Check } from '../input/check.ts';
import { text } from '../input/check.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import { HOOK_ID_PREFIX } from '../webhooks/webhook.ts';
import { isAddress, parseDestination } from './relay-request.ts';

/** None begins with @ or #: stores keep what is not a job beside jobs under such names. */
export const ID_PATTERN = /^(?!@|\.{1,2}$)[A-Za-z0-9._:~@-]{1,128}$/;
const QUEUE = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export const jobId: Check<string> = text({
  max: 128,
  pattern: ID_PATTERN,
  must: "must be 1 to 128 of A-Z a-z 0-9 . _ : ~ @ - and not '.' or '..', nor begin with @",
});

/** One that a producer chooses. What hooks write has ids of its own, by which it is known. */
export const newJobId: Check<string> = described(schemaOf(jobId), (value: unknown, report, path) => {
  if (typeof value === 'string' && value.startsWith(HOOK_ID_PREFIX))
    report(path, `must not begin with ${HOOK_ID_PREFIX}, which is for the jobs of hooks`);
  return jobId(value, report, path);
});

const queueText = text({
  max: 128,
  pattern: QUEUE,
  must: 'must begin with a letter, digit or _ and go on with those, . or -',
});

export const queueName: Check<string> = (value, report, path) => {
  if (typeof value === 'string' && /\.(json|txt)$/.test(value))
    report(path, 'must not end in .json or .txt, which are addresses of views');
  return queueText(value, report, path);
};

/** A queue of this store, or the address of one elsewhere: http://host:3333/q/queue. */
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

/** A label for people: no control characters. */
const SHOWN = /^[^\u0000-\u001f\u007f]*$/;
export const shownName: Check<string> = text({ max: 256, pattern: SHOWN, must: 'must have no control characters' });
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

const SCHEDULE_MAX = 96;
/** Shorter than an id: `<schedule>@<slot>` must be one. */
export const scheduleName: Check<string> = text({
  max: SCHEDULE_MAX,
  pattern: /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/,
  must: 'must begin with a letter, digit or _ and go on with those, . or -',
});
