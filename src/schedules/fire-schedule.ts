/**
 * One turn of one schedule: asks core what is to be done, and does it in an order in which a crash loses nothing.
 *
 *     mark moved, jobs owed ──put if version──▶ cancels ──▶ adds ──▶ no longer owed
 *
 * Of several nodes one wins the put, and the others have nothing to add. A node that dies after it leaves what it owed in
 * the record; whoever looks next adds it, under the same ids.
 */
import { isEnded } from '../core/job/job.ts';
import type { AddResult } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { RunOutcome, Schedule } from '../core/schedules/schedule.ts';
import { settledRuns } from '../core/schedules/schedule.ts';
import { jobOfRun } from '../core/schedules/schedule-input.ts';
import type { LiveJob } from '../core/schedules/schedule-plan.ts';
import { isAtRest, mustLookAtJobs, nextRunAt, planTurn } from '../core/schedules/schedule-plan.ts';
import type { KeptSchedule } from '../core/schedules/schedule-record.ts';
import { putSchedule, rewriteSchedule } from './schedule-records.ts';

/** Whoever moved the mark adds the jobs at once; after so long without, it is gone. */
const OWED_MS = 5_000;
/** How often a slot that waits for a job to end looks whether it has. */
const QUEUED_LOOK_MS = 1_000;

/** When this schedule wants to be looked at again; null: not before somebody changes it. */
export async function fireSchedule(store: Store, kept: KeptSchedule, now: number): Promise<number | null> {
  const { schedule, updatedAt } = kept;
  if (isAtRest(schedule, now)) return nextRunAt(schedule);
  if (schedule.pending.length > 0) {
    if (updatedAt > now - OWED_MS) return updatedAt + OWED_MS;
    return isOwedStill(await addPending(store, schedule)) ? now + OWED_MS : now;
  }
  const live = mustLookAtJobs(schedule, now) ? await liveJobs(store, schedule) : null;
  const turn = planTurn(schedule, now, live);
  if (turn.schedule !== schedule && !(await putSchedule(store.records, turn.schedule, kept.version))) return now;
  if (turn.cancels.length > 0) await store.jobs.cancel(turn.cancels.map((id) => ({ id })));
  if (turn.adds.length > 0 && isOwedStill(await addPending(store, turn.schedule))) return now + OWED_MS;
  if (turn.more) return now;
  return lookAgainAt(turn.schedule, now);
}

function lookAgainAt(schedule: Schedule, now: number): number | null {
  const next = nextRunAt(schedule);
  if (schedule.queued.length === 0 || schedule.pausedAt !== null) return next;
  return Math.min(next ?? Number.POSITIVE_INFINITY, now + QUEUED_LOOK_MS);
}

async function liveJobs(store: Store, { open }: Schedule): Promise<readonly LiveJob[]> {
  const jobs = await store.jobs.find(open);
  return jobs.flatMap((job) =>
    job === null || isEnded(job.state)
      ? []
      : [{ id: job.id, isCancelAsked: (job.lease?.cancelAskedAt ?? null) !== null }],
  );
}

/** Adds what the schedule owes, and writes that it is owed no longer. Can be repeated: the same id twice is one job. */
export async function addPending(store: Store, schedule: Schedule): Promise<ReadonlyMap<string, AddResult>> {
  const { pending } = schedule;
  const answers = await store.jobs.add(pending.map((run) => jobOfRun(schedule, run)));
  const byId = new Map(pending.map(({ id }, place) => [id, answers[place] as AddResult]));
  if (isOwedStill(byId)) return byId;
  const outcomes = new Map([...byId].map(([id, answer]) => [id, outcomeOf(answer)]));
  // One that was deleted meanwhile owes nothing, and says so.
  await rewriteSchedule(store.records, schedule.name, (present) => settledRuns(present, outcomes));
  return byId;
}

/** A store that moves house takes no jobs: what is owed moves with the schedule, and is added there. */
function isOwedStill(answers: ReadonlyMap<string, AddResult>): boolean {
  return [...answers.values()].some((answer) => !answer.ok && answer.refusal.code === 'store-moving');
}

function outcomeOf(answer: AddResult): RunOutcome {
  if (!answer.ok) return 'refused';
  return answer.outcome === 'duplicate' ? 'duplicate' : 'made';
}
