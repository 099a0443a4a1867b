/**
 * What a node finds of its own when it starts: attempts that an earlier process of this home began.
 *
 * Those whose token the store still knows are taken up, before anything is claimed or swept. Whoever has lost its
 * lease meanwhile is ended: its job is somebody else's now.
 */
import type { RunningJob } from '../core/job.ts';
import { holds } from '../core/lifecycle.ts';
import type { Store } from '../core/store.ts';
import type { Runner } from '../runner/open-runner.ts';
import type { Home } from './home.ts';
import { attemptFolder } from './home.ts';
import type { RunningMark, RunningMarks } from './running-marks.ts';

export interface Adopter {
  readonly home: Home;
  readonly store: Store;
  readonly runner: Runner;
  readonly marks: RunningMarks;
}

const GRACE_MS = 10_000;

/** The jobs to go on with, their leases just renewed. */
export async function findOwn({ home, store, runner, marks }: Adopter): Promise<readonly RunningJob[]> {
  const own: RunningJob[] = [];
  for (const mark of await marks.list()) {
    const job = await renew(store, mark);
    if (job !== null) own.push(job);
    else await endLeftover({ home, store, runner, marks }, mark);
  }
  return own;
}

async function renew(store: Store, { id, token, leaseMs }: RunningMark): Promise<RunningJob | null> {
  const [beat] = await store.jobs.heartbeat([{ id, token, leaseMs }]);
  if (beat?.ok !== true) return null;
  const [job] = await store.jobs.find([id]);
  return job !== null && job !== undefined && holds(job, token) ? job : null;
}

async function endLeftover({ home, runner, marks }: Adopter, mark: RunningMark): Promise<void> {
  const found = await runner.adopt(attemptFolder(home, mark.id, mark.attempt));
  if (found.state !== 'never-started') await found.attempt.terminate({ graceMs: GRACE_MS });
  await marks.remove(mark);
}
