/** The live processes of a running job, as the API shows them. */
import { fields, flag, integer, listOf, number, orNull, text } from '../core/input/check.ts';
import { ms, whole } from './port-checks.ts';

export const MAX_PROCESSES = 500;

const process = fields({
  pid: whole,
  parent: whole,
  /** The state letter of /proc: R is running, S and D are sleeping, T is stopped. */
  state: text({ max: 4 }),
  command: text({ max: 4_096 }),
  cpuSeconds: number(0, Number.MAX_SAFE_INTEGER),
  rssBytes: whole,
});
export type ProcessRow = ReturnType<typeof process>;

export const jobProcesses = fields({
  /** Whether a script on the answering node runs the job; a node sees only its own processes. */
  isHere: flag,
  attempt: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  /** The time between SIGTERM and SIGKILL when the job is stopped. */
  graceMs: orNull(ms),
  /** The number of processes; `processes` may list fewer. */
  count: whole,
  processes: listOf(process, MAX_PROCESSES),
});
export type JobProcesses = ReturnType<typeof jobProcesses>;
