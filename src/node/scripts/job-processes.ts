/** The processes of a job whose script runs here, and what a stop would grant them. Secrets come out as stars. */

import { createRedactor } from '../../runner/log/redact.ts';
import type { ListedProcess } from '../../runner/process-tree/process-list.ts';
import type { ScriptHost } from './script-host.ts';
import { secretsOfAttempt } from './secrets.ts';

export interface JobProcesses {
  readonly attempt: number;
  /** Between the TERM and the KILL. */
  readonly graceMs: number;
  readonly processes: readonly ListedProcess[];
}

/** Null for a job that no script of this node runs now. */
export async function processesOf(host: ScriptHost, id: string): Promise<JobProcesses | null> {
  const script = host.running.find(id);
  if (script === undefined) return null;
  const { attempt, job } = script;
  const redactor = createRedactor(await secretsOfAttempt(attempt.folder));
  const masked = (text: string): string => redactor.mask(Buffer.from(text)).toString();
  const processes = (await attempt.processes()).map((each) => ({ ...each, command: masked(each.command) }));
  return { attempt: job.attempt, graceMs: host.settingsFor(job.queue).graceMs, processes };
}
