/**
 * What a node finds of its own when it starts: attempts that an earlier process of this home began.
 *
 * Those whose token the store still knows are taken up, before anything is claimed or swept. Whoever has lost its
 * lease meanwhile is ended: its job is somebody else's now.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { holds } from '../../core/lifecycle/lifecycle.ts';
import type { AttemptMark } from '../attempts/attempt-record.ts';
import { attemptFolder } from '../home.ts';
import type { ScriptHost } from './script-host.ts';
import { removeWorkFolder } from './workdir.ts';

/** The jobs to go on with, their leases just renewed. */
export async function findOwn(host: ScriptHost): Promise<readonly RunningJob[]> {
  const marks = await host.marks.list();
  if (marks.length === 0) return [];
  const { jobs } = host.store;
  const beats = await jobs.heartbeat(marks.map(({ id, token, leaseMs }) => ({ id, token, leaseMs })));
  const found = await jobs.find(marks.map(({ id }) => id));
  const own: RunningJob[] = [];
  const leftovers: AttemptMark[] = [];
  for (const [place, mark] of marks.entries()) {
    const job = found[place] ?? null;
    if (beats[place]?.ok === true && job !== null && holds(job, mark.token)) own.push(job);
    else leftovers.push(mark);
  }
  // Not awaited one by one: each may need its whole grace.
  await Promise.all(leftovers.map((mark) => endLeftover(host, mark)));
  return own;
}

/** Also before anything is claimed: a job that came back to the queue must not run twice on this machine. */
async function endLeftover(host: ScriptHost, mark: AttemptMark): Promise<void> {
  const folder = attemptFolder(host.home, mark.id, mark.attempt);
  const found = await host.runner.adopt(folder).catch(() => null);
  if (found !== null && found.state !== 'never-started') {
    const { graceMs } = host.settingsFor(mark.queue);
    await found.attempt.terminate({ graceMs });
  }
  await removeWorkFolder(folder);
  host.marks.remove(mark);
}
