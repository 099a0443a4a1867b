/** Estimates when a queue is empty, and says from what: the rate of the last minutes, else earlier jobs. Pure. */
import { plural, span } from '../../wire/spans.ts';
import type { UsualRun } from '../../wire/usual-run.ts';

const MINUTE_MS = 60_000;
/** How many of the last minutes count: an hour ago the queue may have been slower, or idle. */
const RECENT = 15;

interface Backlog {
  /** Jobs that wait or run. */
  readonly jobs: number;
  /** Jobs done in each of the last minutes, oldest first; the last minute is incomplete. */
  readonly minutes: readonly number[];
  readonly usual: UsualRun | null;
  /** How many run at once. */
  readonly slots: number;
  readonly now: number;
}

interface EmptyEstimate {
  readonly at: number;
  readonly basis: string;
}

/** Returns null for an empty queue, and for one about which nothing is known. */
export function emptyEstimate(backlog: Backlog): EmptyEstimate | null {
  return backlog.jobs === 0 ? null : (byRate(backlog) ?? byUsualRun(backlog));
}

/** The minutes before the first job of the last quarter of an hour do not count: the queue had nothing to do. */
function byRate({ jobs, minutes, now }: Backlog): EmptyEstimate | null {
  const recent = minutes.slice(-RECENT - 1, -1);
  const counted = recent.slice(recent.findIndex((done) => done > 0));
  const done = counted.reduce((sum, each) => sum + each, 0);
  if (done === 0) return null;
  const perMinute = done / counted.length;
  const at = Math.round(now + (jobs / perMinute) * MINUTE_MS);
  return { at, basis: `${Math.round(perMinute * 10) / 10} per minute in the last ${plural(counted.length, 'minute')}` };
}

function byUsualRun({ jobs, usual, slots, now }: Backlog): EmptyEstimate | null {
  if (usual === null) return null;
  const at = Math.round(now + (jobs / slots) * usual.meanMs);
  return { at, basis: `the mean run of ${span(usual.meanMs)}, ${slots} at once` };
}
