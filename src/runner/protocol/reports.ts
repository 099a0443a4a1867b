/**
 * Everything that a script has reported so far, as far as it matters at its end: a reduction over its verbs.
 *
 * RQ's rules: every line sets the status text, and the first completion counts. Pure: the same lines give the same
 * value on every read, so a restarted node may read the file from its beginning.
 */
import type { RetryVerb, Verb, WaitVerb } from './parse-verb.ts';

export type Completion =
  | { readonly kind: 'done' | 'relayed' | 'err'; readonly text: string }
  | { readonly kind: 'resend'; readonly text: string; readonly delayMs: number; readonly reason: string }
  | RetryVerb
  /** The attempt is suspended when the script has exited. */
  | WaitVerb;

export interface Reports {
  /** The text of the last line; null before the first. */
  readonly status: string | null;
  readonly completion: Completion | null;
  /** The number of requested resends: RQ counts each of them. */
  readonly resends: number;
  readonly progress: { readonly percent: number | null; readonly text: string } | null;
  readonly checkpoint: string | null;
  readonly result: string | null;
  readonly group: string | null;
  /** The throttle that a retry pauses. */
  readonly throttle: string | null;
  readonly tags: readonly string[];
  /** Paths as the script wrote them. */
  readonly attachments: readonly string[];
  /** What is wrong with its first `retry`, `sleep` or `wait` that could not be parsed. */
  readonly unclear: string | null;
}

export const NO_REPORTS: Reports = {
  status: null,
  completion: null,
  resends: 0,
  progress: null,
  checkpoint: null,
  result: null,
  group: null,
  throttle: null,
  tags: [],
  attachments: [],
  unclear: null,
};

const MAX_TAGS = 100;
const MAX_ATTACHMENTS = 10_000;

export function addReport(reports: Reports, verb: Verb): Reports {
  switch (verb.kind) {
    case 'run':
    case 'dup':
      return { ...reports, status: verb.text };
    case 'done':
    case 'relayed':
    case 'err':
    case 'retry':
      return { ...reports, status: verb.text, completion: reports.completion ?? verb };
    case 'resend':
      return { ...reports, status: verb.text, completion: reports.completion ?? verb, resends: reports.resends + 1 };
    case 'progress':
      return { ...reports, progress: verb, status: verb.text === '' ? reports.status : verb.text };
    case 'checkpoint':
    case 'result':
      return { ...reports, [verb.kind]: verb.json };
    case 'group':
    case 'throttle':
      return { ...reports, [verb.kind]: verb.text };
    case 'tag':
      return { ...reports, tags: withItem(reports.tags, verb.text, MAX_TAGS) };
    case 'attach':
      return { ...reports, attachments: withItem(reports.attachments, verb.text, MAX_ATTACHMENTS) };
    case 'sleep':
    case 'wait':
      return { ...reports, completion: reports.completion ?? verb };
    case 'unclear':
      return { ...reports, status: verb.text, unclear: reports.unclear ?? verb.problem };
    case 'step':
    case 'bad':
      return reports;
  }
}

function withItem(list: readonly string[], item: string, limit: number): readonly string[] {
  return list.length >= limit || list.includes(item) ? list : [...list, item];
}
