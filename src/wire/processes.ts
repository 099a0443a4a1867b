/** The live processes of a running job, as they travel. */
import { fields, flag, integer, listOf, number, orNull, text } from '../core/input/check.ts';
import { ms, whole } from './port-checks.ts';

export const MOST_PROCESSES = 500;

const process = fields({
  pid: whole,
  parent: whole,
  /** The letter of /proc: R runs, S and D wait, T is stopped. */
  state: text({ max: 4 }),
  command: text({ max: 4_096 }),
  cpuSeconds: number(0, Number.MAX_SAFE_INTEGER),
  rssBytes: whole,
});
export type ProcessRow = ReturnType<typeof process>;

export const jobProcesses = fields({
  /** Whether a script of this node runs the job now; no other processes can be seen from here. */
  isHere: flag,
  attempt: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
  /** Between the TERM and the KILL of a stop. */
  graceMs: orNull(ms),
  /** How many there are; not all are listed where there are very many. */
  count: whole,
  processes: listOf(process, MOST_PROCESSES),
});
export type JobProcesses = ReturnType<typeof jobProcesses>;
