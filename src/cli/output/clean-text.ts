/**
 * What may reach a terminal of what jobs say: text, and from logs also colours (SGR). Everything else that a terminal
 * would obey (moving, titles, the clipboard, answers typed back) is left out.
 *
 * Invariant: no byte of an escape sequence but a whole SGR one passes, however the log was cut into pieces.
 */

// Stated by numbers: a control character in a source file is one that nobody sees.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** For one cell or one line: no control character at all, and nothing that turns the direction of writing. */
export function plainLine(text: string): string {
  return withoutSequences(text)
    .replace(/\s*[\r\n]+\s*/g, ' ')
    .replace(CONTROLS, '');
}

/** Sequences as a whole: introducer, parameters, final; strings up to their end. A bare or unfinished ESC too. */
const SEQUENCE =
  /\u001b\[[\u0030-\u003f]*[\u0020-\u002f]*[\u0040-\u007e]?|\u001b[PX\]^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[\u0020-\u002f]*[\u0030-\u007e]?/g;
const SGR = /^\u001b\[[0-9;:]*m$/;
/** Unlike in a cell, lines, tabs and carriage returns are part of a log. */
const LOG_CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/g;

function withoutSequences(text: string): string {
  return text.replace(SEQUENCE, '');
}

/** A sequence that a piece ends in the middle of. Longer than this it is no colour, and is dropped as it comes. */
const UNFINISHED = /\u001b(?:\[[0-9;:]*|[PX\]^_][^\u0007\u001b\u009c]*\u001b?)?$/;
const LONGEST_UNFINISHED = 4_096;

export interface LogCleaner {
  /** What may be shown of this piece; the end of an unfinished sequence or character waits for the next. */
  clean(bytes: Uint8Array): string;
}

export function createLogCleaner({ keepsColours }: { readonly keepsColours: boolean }): LogCleaner {
  const decoder = new TextDecoder('utf-8');
  let held = '';
  const keep = (sequence: string): string => (keepsColours && SGR.test(sequence) ? sequence : '');
  return {
    clean(bytes) {
      const text = held + decoder.decode(bytes, { stream: true });
      const from = text.search(UNFINISHED);
      held = from < 0 ? '' : text.slice(from);
      const whole = from < 0 ? text : text.slice(0, from);
      // What a sequence says may be dropped early; that it is still open may not be forgotten.
      if (held.length > LONGEST_UNFINISHED) held = held.slice(0, 2);
      return whole.replace(SEQUENCE, keep).replace(LOG_CONTROLS, '');
    },
  };
}
