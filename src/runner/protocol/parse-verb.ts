/**
 * One line that a script said, as a verb. RQ's words are taken as RQ takes them; the others are Longhaul's own.
 *
 * Pure, and total: any line is some verb. A word that nobody knows sets the status text, as it does in RQ; what
 * cannot be understood is `bad` and says why.
 */

export type Verb =
  /** `run`, and any word that nobody knows. */
  | { readonly kind: 'run'; readonly text: string }
  | { readonly kind: 'done' | 'relayed' | 'err'; readonly text: string }
  | { readonly kind: 'resend'; readonly text: string; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'dup'; readonly text: string; readonly delayMs: number; readonly dest: string }
  | { readonly kind: 'progress'; readonly percent: number | null; readonly text: string }
  /** JSON texts that were found to be JSON. */
  | { readonly kind: 'checkpoint' | 'result'; readonly json: string }
  | { readonly kind: 'attach' | 'tag' | 'group'; readonly text: string }
  | { readonly kind: 'bad'; readonly word: string; readonly problem: string };

/** A delay longer than this is taken for this: a hundred years of seconds still fit a date. */
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
      return text === '' ? { kind: 'bad', word, problem: 'says nothing after the word' } : { kind: word, text };
    default:
      return { kind: 'run', text };
  }
}

/** DUE-REASON. */
function parseResend(text: string): Verb {
  const [due = '', ...reason] = text.split('-');
  return { kind: 'resend', text, delayMs: toDelayMs(due), reason: reason.join('-') };
}

/** DUE-FLAG-DEST; the flag was never used for anything. One without a destination wants its answer too. */
function parseDup(text: string): Verb {
  const [due = '', , ...dest] = text.split('-');
  return { kind: 'dup', text, delayMs: toDelayMs(due), dest: dest.join('-') };
}

/** As Ruby's to_i: the digits it begins with, or 0. */
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
    return { kind: 'bad', word, problem: 'is no JSON' };
  }
}
