/** The processes of a job whose script runs here, and the grace period of a stop. Secrets are masked. */

import { createRedactor } from '../../runner/log/redact.ts';
import type { ListedProcess } from '../../runner/process-tree/process-list.ts';
import type { ScriptHost } from './script-host.ts';
import { secretsOfAttempt } from './secrets.ts';

export interface JobProcesses {
  readonly attempt: number;
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  readonly processes: readonly ListedProcess[];
}

/** Returns null for a job that no script of this node runs now. */
export async function processesOf(host: ScriptHost, id: string): Promise<JobProcesses | null> {
  const script = host.running.find(id);
  if (script === undefined) return null;
  const { attempt, job } = script;
  const redactor = createRedactor(await secretsOfAttempt(attempt.folder));
  const masked = (text: string): string => redactor.mask(Buffer.from(text)).toString();
  const processes = (await attempt.processes()).map((each) => ({ ...each, command: masked(each.command) }));
  return { attempt: job.attempt, graceMs: host.settingsFor(job.queue).graceMs, processes };
}
