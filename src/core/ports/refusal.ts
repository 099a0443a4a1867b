/**
 * Refusals: expected noes. They are returned, never thrown, and carry words for a person.
 */

export const REFUSAL_CODES = [
  'not-found',
  'lease-lost',
  'wrong-state',
  'moved-on',
  'key-taken',
  'queue-down',
  'queue-deleted',
  'has-dependents',
  'bad-dependency',
  'worker-lost',
  'version-conflict',
  'store-moving',
] as const;
/** Why the store refused a call. */
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** An expected "no" of the store: returned, not thrown. */
export interface Refusal {
  /** The reason. */
  readonly code: RefusalCode;
  /** The reason in words, with the job or queue that it concerns. */
  readonly message: string;
  /** The job that stands in the way, where there is one. */
  readonly holder?: string;
  /** How many jobs wait for the one that was to be cancelled. */
  readonly dependents?: number;
}

export interface Refused {
  readonly ok: false;
  readonly refusal: Refusal;
}

const WORDS: Record<RefusalCode, (subject: string) => string> = {
  'not-found': (subject) => `${subject} does not exist`,
  'lease-lost': (subject) => `${subject} is no longer leased under this token`,
  'wrong-state': (subject) => `${subject} is in a state that does not allow this`,
  'moved-on': (subject) => `${subject} has been claimed again since you saw it`,
  'key-taken': (subject) => `the unique key of ${subject} is held by another job`,
  'queue-down': (subject) => `${subject} is down and accepts no jobs`,
  'queue-deleted': (subject) => `${subject} was deleted and accepts no jobs: create it again first`,
  'has-dependents': (subject) => `other jobs wait for ${subject}; say whether to cancel them too or to leave them`,
  'bad-dependency': (subject) => `${subject} cannot wait for these jobs`,
  'worker-lost': (subject) => `${subject} is not registered: it was failed or has expired`,
  'version-conflict': (subject) => `${subject} was changed by somebody else in the meantime`,
  'store-moving': (subject) => `${subject} and takes no changes here`,
};

/** `subject` names the thing in words: "job 7", "queue mail". */
export function refuse(code: RefusalCode, subject: string, holder?: string): Refused {
  const message = WORDS[code](subject);
  return { ok: false, refusal: holder === undefined ? { code, message } : { code, message, holder } };
}
