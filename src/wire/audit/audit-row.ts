/** A row of the audit log. */
import type { Role } from '../role.ts';

/** What an audited call acts on. `kind` is a kind of record, or `job`, `jobs`, `worker` or `node`. */
export interface AuditSubject {
  readonly kind: string;
  /** The name of a queue or schedule, the id of a job; for `jobs`, which jobs. */
  readonly key: string;
  /** The name of a job or token, if it has one. */
  readonly name: string | null;
  /** The queue of a job. */
  readonly queue: string | null;
}

/** A changed value; null stands for a value that is not set. */
export interface AuditChange {
  readonly name: string;
  readonly from: string | null;
  readonly to: string | null;
}

export interface AuditRow {
  readonly at: number;
  readonly actor: string;
  readonly role: Role;
  readonly from: string;
  /** The id of the token, if one was used. */
  readonly token: string | null;
  /** The name of the route, such as `jobs.cancel`. */
  readonly action: string;
  /** Method and path. */
  readonly target: string;
  readonly status: number;
  /** `ok`, or the code of the problem. */
  readonly result: string;
  /** What was done, such as `Paused`. Rows of earlier versions have none of these three. */
  readonly verb?: string;
  readonly subject?: AuditSubject | null;
  readonly changes?: readonly AuditChange[];
}
