/** The title of a job: its name, else a summary of its data, else its shortened id. Pure. */
import { cut } from '../../../src/core/job/failure.ts';
import type { JobView } from '../../../src/wire/job-view.ts';

const MAX_TITLE = 80;
const MAX_PARTS = 3;
const MAX_VALUE = 40;

/** A longer id, such as a UUID, is shortened to its beginning and end. */
const SHOWN_ID = 16;

export function titleOf({ name, data, id }: Pick<JobView, 'name' | 'data' | 'id'>): string {
  return name ?? (fit(summaryOf(data), MAX_TITLE) || shortId(id));
}

/** Returns `0198c3a2…89ab`. The beginning of a UUID is its time, and equal for jobs of the same minute. */
export function shortId(id: string): string {
  return id.length <= SHOWN_ID ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}

/** Returns the first values of the data: `a.csv`, or `frames: 3, film: harbour.mov`; empty for data that says nothing. */
function summaryOf(data: unknown): string {
  if (typeof data === 'string') return oneLine(data);
  if (typeof data === 'number') return String(data);
  if (typeof data !== 'object' || data === null) return '';
  const parts = Object.entries(data).flatMap(([name, value]) => {
    const text = valueText(value);
    return text === '' ? [] : [Array.isArray(data) || /^param\d$/.test(name) ? text : `${name}: ${text}`];
  });
  return parts.slice(0, MAX_PARTS).join(', ');
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return fit(oneLine(value), MAX_VALUE);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function fit(text: string, length: number): string {
  return text.length <= length ? text : `${cut(text, length - 1)}…`;
}
