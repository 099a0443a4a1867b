/** Where the layer answers differently from the recording, by scenario and call: what it answers, and why. */

interface Difference {
  readonly why: string;
  readonly here: Readonly<Record<string, unknown>>;
}

const NO_THROTTLED_ITEM = 'the history has no item for a job that is held back: it is computed, and not written';
const NO_WORKER = 'a job that no worker runs names none';
const NUMBER_TAGS = 'a tag is a text, however it was given';

export const DIFFERENCES: Readonly<Record<string, Readonly<Record<number, Difference>>>> = {
  'an expired lock: its worker is told, and has the grace period left from there': {
    18: {
      why: 'the time that a job waited counts from its return, and not from the pop before it',
      here: { answer: { retries: 2, failures: 1, failed: 1, wait: { count: 2, mean: 0 } } },
    },
  },
  'retry: one text for exhausted retries': {
    3: { why: NO_WORKER, here: { answer: { state: 'waiting', worker: '', expires: 0, remaining: 0 } } },
  },
  'number tags, and the order of tags and their jobs': {
    2: { why: NUMBER_TAGS, here: { answer: ['2', 'x', '1'] } },
    5: { why: NUMBER_TAGS, here: { answer: ['x', '1'] } },
  },
  'priority, depends, log and timeout': {
    13: { why: NO_WORKER, here: { answer: { state: 'stalled', worker: '' } } },
  },
  'the throttle of a queue itself': {
    11: { why: NO_THROTTLED_ITEM, here: { answer: [{ jid: 'b', history: [{ what: 'put' }, { what: 'popped' }] }] } },
  },
  'a named throttle, its expiration and the order of its jobs': {
    12: { why: NO_THROTTLED_ITEM, here: { answer: [{ jid: 'b', history: [{ what: 'put' }, { what: 'popped' }] }] } },
  },
};
