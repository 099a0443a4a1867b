/** Times in what the node says, which speaks for readers in any zone, as the one who looks would say them. Pure. */
import type { JobView } from '../../../src/wire/job-view.ts';
import { localIso } from '../../../src/wire/spans.ts';

const ISO = /(?:\bat )?\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/g;
const DAY_MS = 86_400_000;

/** Why a job is what it is. What the job itself said stays as it was said. */
export function reasonOf({ label, reason }: Pick<JobView, 'label' | 'reason'>, now: number): string {
  // Who runs it is an id for machines; the page says where it runs.
  if (label === 'running') return reason.replace(/ on \S+$/, '');
  return label === 'scheduled' || label === 'retrying' ? withLocalTimes(reason, now) : reason;
}

/** 'not before 2026-03-02T13:05:00.000Z' as 'not before tomorrow at 14:05'. */
export function withLocalTimes(text: string, now: number): string {
  return text.replace(ISO, (_found, iso: string) => localTime(Date.parse(iso), now));
}

/** 'today at 14:05', 'tomorrow at 14:05', 'Mon 2 Mar at 14:05', 'Mon 2 Mar 2027 at 14:05'. */
export function localTime(at: number, now: number): string {
  return `${dayWords(at, now)} at ${localIso(at).slice(11, 16)}`;
}

function dayWords(at: number, now: number): string {
  const days = Math.round((midnight(at) - midnight(now)) / DAY_MS);
  const near = { '-1': 'yesterday', '0': 'today', '1': 'tomorrow' }[String(days)];
  if (near !== undefined) return near;
  const [weekday = '', month = '', day = '', year = ''] = new Date(at).toDateString().split(' ');
  const words = `${weekday} ${Number(day)} ${month}`;
  return new Date(now).getFullYear() === Number(year) ? words : `${words} ${year}`;
}

function midnight(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
