/** Refusals: an expected "no". They are returned, never thrown, and carry a message for people. */

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
  'step-limit',
] as const;
/** Why the store refused a call. */
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** An expected "no" of the store: returned, not thrown. */
export interface Refusal {
  /** The reason. */
  readonly code: RefusalCode;
  /** The reason in words, with the job or queue that it concerns. */
  readonly message: string;
  /** The job that prevents the call, if there is one. */
  readonly holder?: string;
  /** How many jobs wait for the job that was to be cancelled. */
  readonly dependents?: number;
}

export interface Refused {
  readonly ok: false;
  readonly refusal: Refusal;
}

const MESSAGES: Record<RefusalCode, (subject: string) => string> = {
  'not-found': (subject) => `${subject} does not exist`,
  'lease-lost': (subject) => `${subject} is no longer leased under this token`,
  'wrong-state': (subject) => `${subject} does not allow this call in its present state`,
  'moved-on': (subject) => `${subject} has been claimed again since you saw it`,
  'key-taken': (subject) => `the unique key of ${subject} is held by another job`,
  'queue-down': (subject) => `${subject} is down and accepts no jobs`,
  'queue-deleted': (subject) => `${subject} was deleted and accepts no jobs: create it again first`,
  'has-dependents': (subject) => `other jobs wait for ${subject}: choose whether to cancel or to leave them`,
  'bad-dependency': (subject) => `${subject} cannot wait for these jobs`,
  'worker-lost': (subject) => `${subject} is not registered: it was failed or has expired`,
  'version-conflict': (subject) => `${subject} was changed by another caller in the meantime`,
  'store-moving': (subject) => `${subject} and takes no changes here`,
  'step-limit': (subject) => `${subject} has too many steps, or too large ones`,
};

/** Creates a refusal. `subject` names the thing in the message: "job 7", "queue mail". */
export function refuse(code: RefusalCode, subject: string, holder?: string): Refused {
  const message = MESSAGES[code](subject);
  return { ok: false, refusal: holder === undefined ? { code, message } : { code, message, holder } };
}

const ALLOWED_STATES = {
  cancel: 'only draft, waiting and running jobs can be cancelled',
  requeue: 'only done, failed, cancelled and held jobs can be requeued',
  move: 'only draft and waiting jobs can be moved',
  change:
    'data, run time and dependencies can change only while a job is a draft or waits, priority until it ends, and pause only while it runs',
  delete: 'cancel a running job before you delete it',
  notify: 'only draft, waiting and running jobs read events',
  attach: 'attachments can change only while a job is a draft',
};
export type GuardedCall = keyof typeof ALLOWED_STATES;

/** Refuses a call that the job's state does not allow. The message names the state and the states that allow the call. */
export function refuseState(
  { id, state }: { readonly id: string; readonly state: string },
  call: GuardedCall,
): Refused {
  return { ok: false, refusal: { code: 'wrong-state', message: `job ${id} is ${state}: ${ALLOWED_STATES[call]}` } };
}
