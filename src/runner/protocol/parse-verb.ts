/**
 * Parses one line that a script wrote to fd 3. Verbs of RQ behave as in RQ; the others are Longhaul's own.
 *
 * Pure and total: every line is a verb. An unknown verb sets the status text, as in RQ. A line that cannot be parsed is
 * `bad`, with the reason.
 */

export type Verb =
  /** `run`, and any unknown verb. */
  | { readonly kind: 'run'; readonly text: string }
  | { readonly kind: 'done' | 'relayed' | 'err'; readonly text: string }
  | { readonly kind: 'resend'; readonly text: string; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'dup'; readonly text: string; readonly delayMs: number; readonly dest: string }
  | { readonly kind: 'progress'; readonly percent: number | null; readonly text: string }
  /** The JSON text was validated. */
  | { readonly kind: 'checkpoint' | 'result'; readonly json: string }
  | { readonly kind: 'attach' | 'tag' | 'group'; readonly text: string }
  | { readonly kind: 'bad'; readonly word: string; readonly problem: string };

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
