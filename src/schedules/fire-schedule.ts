/**
 * One turn of one schedule: the core plans it, and this file executes the plan in an order in which a crash loses nothing.
 *
 *     put the record with pending runs, if its version is unchanged ──▶ cancel ──▶ add ──▶ remove the pending runs
 *
 * Of several nodes one wins the put, and the others have nothing to add. A node that dies after the put leaves the
 * pending runs in the record; the next process adds them under the same ids.
 */
import { isEnded } from '../core/job/job.ts';
import type { AddResult } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { RunOutcome, Schedule } from '../core/schedules/schedule.ts';
import { withOutcomes } from '../core/schedules/schedule.ts';
import { jobOfRun } from '../core/schedules/schedule-input.ts';
import type { LiveJob } from '../core/schedules/schedule-plan.ts';
import { isIdle, needsLiveJobs, nextRunAt, planRuns } from '../core/schedules/schedule-plan.ts';
import type { StoredSchedule } from '../core/schedules/schedule-record.ts';
import { putSchedule, rewriteSchedule } from './schedule-records.ts';

/** The winner of the put adds its jobs at once. After this time without, it is assumed dead. */
const PENDING_MS = 5_000;
/** How often a queued run checks whether the job before it has ended. */
const QUEUED_CHECK_MS = 1_000;

/** Fires what is due. Returns when the next turn is; null: not before the schedule changes. */
export async function fireSchedule(store: Store, kept: StoredSchedule, now: number): Promise<number | null> {
  const { schedule, updatedAt } = kept;
  if (isIdle(schedule, now)) return nextRunAt(schedule);
  if (schedule.pending.length > 0) {
    if (updatedAt > now - PENDING_MS) return updatedAt + PENDING_MS;
    return isStillPending(await addPending(store, schedule)) ? now + PENDING_MS : now;
  }
  const live = needsLiveJobs(schedule, now) ? await liveJobs(store, schedule) : null;
  const turn = planRuns(schedule, now, live);
  if (turn.schedule !== schedule && !(await putSchedule(store.records, turn.schedule, kept.version))) return now;
  if (turn.cancels.length > 0) await store.jobs.cancel(turn.cancels.map((id) => ({ id })));
  if (turn.adds.length > 0 && isStillPending(await addPending(store, turn.schedule))) return now + PENDING_MS;
  if (turn.more) return now;
  return nextTurnAt(turn.schedule, now);
}

function nextTurnAt(schedule: Schedule, now: number): number | null {
  const next = nextRunAt(schedule);
  if (schedule.queued.length === 0 || schedule.pausedAt !== null) return next;
  return Math.min(next ?? Number.POSITIVE_INFINITY, now + QUEUED_CHECK_MS);
}

async function liveJobs(store: Store, { open }: Schedule): Promise<readonly LiveJob[]> {
  const jobs = await store.jobs.find(open);
  return jobs.flatMap((job) =>
    job === null || isEnded(job.state)
      ? []
      : [{ id: job.id, isCancelAsked: (job.lease?.cancelAskedAt ?? null) !== null }],
  );
}

/** Adds the pending runs, and removes them from the record. Can be repeated: the same id twice is one job. */
export async function addPending(store: Store, schedule: Schedule): Promise<ReadonlyMap<string, AddResult>> {
  const { pending } = schedule;
  const answers = await store.jobs.add(pending.map((run) => jobOfRun(schedule, run)));
  const byId = new Map(pending.map(({ id }, index) => [id, answers[index] as AddResult]));
  if (isStillPending(byId)) return byId;
  const outcomes = new Map([...byId].map(([id, answer]) => [id, outcomeOf(answer)]));
  // Refused, without effect, for a schedule that was deleted meanwhile.
  await rewriteSchedule(store.records, schedule.name, (present) => withOutcomes(present, outcomes));
  return byId;
}

/** During a store migration the store takes no jobs: the pending runs move with the schedule, and are added there. */
function isStillPending(answers: ReadonlyMap<string, AddResult>): boolean {
  return [...answers.values()].some((answer) => !answer.ok && answer.refusal.code === 'store-moving');
}

function outcomeOf(answer: AddResult): RunOutcome {
  if (!answer.ok) return 'refused';
  return answer.outcome === 'duplicate' ? 'duplicate' : 'made';
}
