/**
 * Parses one line that a script wrote to fd 3. Verbs of RQ behave as in RQ; the others are Longhaul's own.
 *
 * Pure and total: every line is a verb. An unknown verb sets the status text, as in RQ. A line that cannot be parsed is
 * `bad`, with the reason.
 */
import { throttleName } from '../../core/settings/limit-input.ts';

export type Verb =
  /** `run`, and any unknown verb. */
  | { readonly kind: 'run'; readonly text: string }
  | { readonly kind: 'done' | 'relayed' | 'err'; readonly text: string }
  | { readonly kind: 'resend'; readonly text: string; readonly delayMs: number; readonly reason: string }
  | RetryVerb
  | { readonly kind: 'dup'; readonly text: string; readonly delayMs: number; readonly dest: string }
  | { readonly kind: 'progress'; readonly percent: number | null; readonly text: string }
  /** The JSON text was validated. */
  | { readonly kind: 'checkpoint' | 'result'; readonly json: string }
  | { readonly kind: 'attach' | 'tag' | 'group' | 'throttle'; readonly text: string }
  /** A wait that begins when the script has exited. */
  | WaitVerb
  /** A `retry`, `sleep` or `wait` that cannot be parsed: a failure for Longhaul, a status text for RQ. */
  | { readonly kind: 'unclear'; readonly text: string; readonly problem: string }
  /** The name of the files in which `longhaul step` left the end of its command. */
  | { readonly kind: 'step'; readonly key: string }
  | { readonly kind: 'bad'; readonly word: string; readonly problem: string };

/** The attempt failed, and the next one starts after this time. */
export interface RetryVerb {
  readonly kind: 'retry';
  readonly text: string;
  readonly delayMs: number;
}

export type WaitVerb =
  | { readonly kind: 'sleep'; readonly delayMs: number }
  /** A timeout of null: none. */
  | { readonly kind: 'wait'; readonly name: string; readonly timeoutMs: number | null };

/** Longer delays are clamped: 100 years in seconds still fit a date. */
const MAX_DELAY_SECONDS = 100 * 366 * 86_400;

export function parseVerb(line: string): Verb {
  const space = line.indexOf(' ');
  const word = space < 0 ? line : line.slice(0, space);
  const text = space < 0 ? '' : line.slice(space + 1);
  switch (word) {
    case 'done':
    case 'relayed':
    case 'err':
      return { kind: word, text };
    case 'fails':
      return { kind: 'err', text };
    case 'resend':
      return parseResend(text);
    case 'dup':
      return parseDup(text);
    case 'progress':
      return parseProgress(text);
    case 'checkpoint':
    case 'result':
      return parseJson(word, text);
    case 'attach':
    case 'tag':
    case 'group':
      return text === '' ? { kind: 'bad', word, problem: 'has no value' } : { kind: word, text };
    case 'throttle':
      return parseThrottle(text);
    case 'retry':
      return parseRetry(text);
    case 'sleep':
      return parseSleep(text);
    case 'wait':
      return parseWait(text);
    case 'step':
      return STEP_KEY.test(text) ? { kind: 'step', key: text } : { kind: 'run', text };
    default:
      return { kind: 'run', text };
  }
}

/** DUE-REASON. */
function parseResend(text: string): Verb {
  const [due = '', ...reason] = text.split('-');
  return { kind: 'resend', text, delayMs: toDelayMs(due), reason: reason.join('-') };
}

/** DUE-FLAG-DEST. RQ never used the flag. A dup without a destination still gets an answer. */
function parseDup(text: string): Verb {
  const [due = '', , ...dest] = text.split('-');
  return { kind: 'dup', text, delayMs: toDelayMs(due), dest: dest.join('-') };
}

/** Like to_i of Ruby: the leading digits, or 0. */
function toDelayMs(text: string): number {
  const seconds = Number.parseInt(text, 10);
  if (!(seconds > 0)) return 0;
  return Math.min(seconds, MAX_DELAY_SECONDS) * 1000;
}

/** What `longhaul step` writes; any other line is a status text. */
const STEP_KEY = /^[0-9a-f]{32}-\d{1,9}$/;
const SECONDS = /^\d+(?:\.\d+)?$/;

/** SECONDS, or SECONDS REASON. */
function parseRetry(text: string): Verb {
  const [, time = '', reason = ''] = /^(\S+)(?: (.*))?$/.exec(text) ?? [];
  if (SECONDS.test(time)) return { kind: 'retry', text: reason, delayMs: exactDelayMs(time) };
  return { kind: 'unclear', text, problem: `retry ${text}: write retry SECONDS REASON, such as retry 30 HTTP 429` };
}

/** The name of a throttle. */
function parseThrottle(text: string): Verb {
  const problems: string[] = [];
  throttleName(
    text,
    (_path, problem) => {
      problems.push(problem);
    },
    '',
  );
  const [problem] = problems;
  return problem === undefined ? { kind: 'throttle', text } : { kind: 'bad', word: 'throttle', problem };
}

/** SECONDS. */
function parseSleep(text: string): Verb {
  if (SECONDS.test(text)) return { kind: 'sleep', delayMs: exactDelayMs(text) };
  return { kind: 'unclear', text, problem: `sleep ${text}: write sleep SECONDS, such as sleep 3600` };
}

/** NAME SECONDS, or NAME forever. */
function parseWait(text: string): Verb {
  const [, name = '', time = ''] = /^(.*\S) +(\S+)$/.exec(text) ?? [];
  if (name !== '' && time === 'forever') return { kind: 'wait', name, timeoutMs: null };
  if (name !== '' && SECONDS.test(time)) return { kind: 'wait', name, timeoutMs: exactDelayMs(time) };
  const problem = `wait ${text}: write wait NAME SECONDS or wait NAME forever, such as wait approval 86400`;
  return { kind: 'unclear', text, problem };
}

const exactDelayMs = (seconds: string): number => Math.round(Math.min(Number(seconds), MAX_DELAY_SECONDS) * 1000);

/** `40`, `40%`, `40.5 pass 1`, or text alone. */
function parseProgress(text: string): Verb {
  const match = /^(\d+(?:\.\d+)?)%?(?: (.*))?$/.exec(text);
  if (!match) return { kind: 'progress', percent: null, text };
  return { kind: 'progress', percent: Math.min(100, Number(match[1])), text: match[2] ?? '' };
}

function parseJson(word: 'checkpoint' | 'result', text: string): Verb {
  try {
    JSON.parse(text);
    return { kind: word, json: text };
  } catch {
    return { kind: 'bad', word, problem: 'is not valid JSON' };
  }
}
