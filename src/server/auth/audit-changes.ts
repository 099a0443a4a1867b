/** The differences between the values of an audited subject before and after a call, as text. Pure. */
import type { AuditChange } from '../../wire/audit/audit-row.ts';
import { exactDuration } from '../../wire/spans.ts';
import type { AuditValues } from './audit-subject.ts';

export const MAX_CHANGES = 20;
const NOT_SHOWN = 'not shown';

/** Returns what differs. A created subject lists its values; a deleted one has no changes. */
export function changesBetween(before: AuditValues | null, after: AuditValues | null): readonly AuditChange[] {
  if (after === null) return [];
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
  return names
    .filter((name) => JSON.stringify(before?.[name] ?? null) !== JSON.stringify(after[name] ?? null))
    .filter((name) => before !== null || !isPlain(name, after[name]))
    .slice(0, MAX_CHANGES)
    .map((name) => ({ name, from: shown(name, before?.[name]), to: shown(name, after[name]) }));
}

/** Returns whether a value of a new subject says nothing: false, zero, an empty object, or data that is not shown. */
const isPlain = (name: string, value: unknown): boolean =>
  name === 'data' || ['false', '{}', '{"ms":0}'].includes(JSON.stringify(value));

/** Formats a value. The data of jobs is not shown, and the environment only by its names. */
function shown(name: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (name === 'data') return NOT_SHOWN;
  if (name === 'env') return Object.keys(value).join(', ');
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  if (isRate(value)) return `${value.count}/${exactDuration(value.ms)}`;
  return isDuration(value) ? exactDuration(value.ms) : JSON.stringify(value);
}

const isDuration = (value: unknown): value is { readonly ms: number } =>
  typeof value === 'object' && value !== null && Object.keys(value).join() === 'ms';

const isRate = (value: unknown): value is { readonly count: number; readonly ms: number } =>
  typeof value === 'object' && value !== null && Object.keys(value).sort().join() === 'count,ms';
