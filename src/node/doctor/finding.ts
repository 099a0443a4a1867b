/** A finding of a check: its level, and the cure. */

/** `note`: information that needs no action. */
export type FindingLevel = 'ok' | 'note' | 'warning' | 'error';

export interface Finding {
  /** The subject: `disk`, `database`, `permissions`. */
  readonly about: string;
  readonly level: FindingLevel;
  readonly message: string;
  /** What to do; empty if nothing. */
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
