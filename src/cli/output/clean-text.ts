/**
 * Removes escape sequences from the text of jobs before it reaches a terminal. Logs keep their colours (SGR). Everything
 * else that a terminal would execute is removed: cursor moves, titles, the clipboard, queries that it answers.
 *
 * Invariant: no byte of an escape sequence but a whole SGR one passes, however the log was cut into pieces.
 */

// Written as escapes, because a control character is invisible in a source file.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Returns the text as one line, without control characters and without characters that change the writing direction. */
export function plainLine(text: string): string {
  return withoutSequences(text)
    .replace(/\s*[\r\n]+\s*/g, ' ')
    .replace(CONTROLS, '');
}

/** Whole sequences: introducer, parameters, final byte; strings up to their terminator; a bare or unfinished ESC. */
const SEQUENCE =
  /\u001b\[[\u0030-\u003f]*[\u0020-\u002f]*[\u0040-\u007e]?|\u001b[PX\]^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[\u0020-\u002f]*[\u0030-\u007e]?/g;
const SGR = /^\u001b\[[0-9;:]*m$/;
/** A log, unlike a table cell, keeps newlines, tabs and carriage returns. */
const LOG_CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/g;

function withoutSequences(text: string): string {
  return text.replace(SEQUENCE, '');
}

/** A sequence that the end of a chunk cuts. One longer than the limit cannot be a colour, and is dropped as it arrives. */
const UNFINISHED = /\u001b(?:\[[0-9;:]*|[PX\]^_][^\u0007\u001b\u009c]*\u001b?)?$/;
const LONGEST_UNFINISHED = 4_096;

export interface LogCleaner {
  /** Returns the printable part of a chunk. An unfinished sequence or character is held back for the next chunk. */
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
      // The content of a long sequence can be dropped early, but its start must stay, because the sequence is still open.
      if (held.length > LONGEST_UNFINISHED) held = held.slice(0, 2);
      return whole.replace(SEQUENCE, keep).replace(LOG_CONTROLS, '');
    },
  };
}
