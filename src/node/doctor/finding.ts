/** What a look at a node found: one thing, how bad it is, and what to do about it. */

/** `note`: a fact worth knowing, with nothing to be done. */
export type FindingLevel = 'ok' | 'note' | 'warning' | 'error';

export interface Finding {
  /** What was looked at, in a word: `disk`, `database`, `permissions`. */
  readonly about: string;
  readonly level: FindingLevel;
  readonly message: string;
  /** What to do; empty where there is nothing. */
  readonly cure: string;
}

export const fine = (about: string, message: string): Finding => ({ about, level: 'ok', message, cure: '' });
export const note = (about: string, message: string): Finding => ({ about, level: 'note', message, cure: '' });
export const warning = (about: string, message: string, cure: string): Finding => ({
  about,
  level: 'warning',
  message,
  cure,
});
export const fault = (about: string, message: string, cure: string): Finding => ({
  about,
  level: 'error',
  message,
  cure,
});
