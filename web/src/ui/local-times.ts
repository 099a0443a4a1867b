/** Replaces UTC times in texts of the node by times in the user's zone. Pure. */
import type { JobView } from '../../../src/wire/job-view.ts';
import { localIso } from '../../../src/wire/spans.ts';

const ISO = /(?:\bat )?\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/g;
const DAY_MS = 86_400_000;

/** Labels whose reason has a time. */
const TIMED: ReadonlySet<string> = new Set(['scheduled', 'retrying', 'suspended']);

/** Returns the reason for a job's label. Text that the job itself reported is not changed. */
export function reasonOf({ label, reason }: Pick<JobView, 'label' | 'reason'>, now: number): string {
  // The worker id is not for people; the UI shows the host instead.
  if (label === 'running') return reason.replace(/ on \S+$/, '');
  return TIMED.has(label) ? withLocalTimes(reason, now) : reason;
}

/** Converts 'not before 2026-03-02T13:05:00.000Z' to 'not before tomorrow at 14:05'. */
export function withLocalTimes(text: string, now: number): string {
  return text.replace(ISO, (_found, iso: string) => localTime(Date.parse(iso), now));
}

/** 'today at 14:05', 'tomorrow at 14:05', 'Mon 2 Mar at 14:05', 'Mon 2 Mar 2027 at 14:05'. */
export function localTime(at: number, now: number): string {
  return `${dayText(at, now)} at ${localIso(at).slice(11, 16)}`;
}

function dayText(at: number, now: number): string {
  const days = Math.round((midnight(at) - midnight(now)) / DAY_MS);
  const near = { '-1': 'yesterday', '0': 'today', '1': 'tomorrow' }[String(days)];
  if (near !== undefined) return near;
  const [weekday = '', month = '', day = '', year = ''] = new Date(at).toDateString().split(' ');
  const date = `${weekday} ${Number(day)} ${month}`;
  return new Date(now).getFullYear() === Number(year) ? date : `${date} ${year}`;
}

function midnight(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
