/**
 * Finds the attempts that an earlier process of this data directory started.
 *
 * Attempts whose token is still valid are adopted, before anything is claimed or swept. An attempt that has lost its
 * lease is ended, because another worker may run its job.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { holds } from '../../core/lifecycle/lifecycle.ts';
import type { AttemptEntry } from '../attempts/attempt-record.ts';
import { attemptFolder } from '../home.ts';
import type { ScriptHost } from './script-host.ts';
import { removeWorkdir } from './workdir.ts';

/** Returns the jobs to adopt, with renewed leases. */
export async function findOwnAttempts(host: ScriptHost): Promise<readonly RunningJob[]> {
  const entries = await host.registry.list();
  if (entries.length === 0) return [];
  const { jobs } = host.store;
  const beats = await jobs.heartbeat(entries.map(({ id, token, leaseMs }) => ({ id, token, leaseMs })));
  const found = await jobs.find(entries.map(({ id }) => id));
  const own: RunningJob[] = [];
  const lost: AttemptEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    const job = found[index] ?? null;
    if (beats[index]?.ok === true && job !== null && holds(job, entry.token)) own.push(job);
    else lost.push(entry);
  }
  // Concurrently: each may need its full grace period.
  await Promise.all(lost.map((entry) => endLostAttempt(host, entry)));
  return own;
}

/**
 * Ends an attempt that lost its lease. This too precedes the first claim: a job that returned to the queue must not run
 * twice on this machine.
 */
async function endLostAttempt(host: ScriptHost, entry: AttemptEntry): Promise<void> {
  const folder = attemptFolder(host.home, entry.id, entry.attempt);
  const found = await host.runner.adopt(folder).catch(() => null);
  if (found !== null && found.state !== 'never-started') {
    const { graceMs } = host.settingsFor(entry.queue);
    await found.attempt.terminate({ graceMs });
  }
  await removeWorkdir(folder);
  host.registry.remove(entry);
}
