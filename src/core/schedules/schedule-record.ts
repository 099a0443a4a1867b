/**
 * Parses a schedule from its record. An invalid record is detected here, so that it never keeps other schedules from
 * firing. Pure.
 */
import type { StoredRecord } from '../ports/records.ts';
import type { Schedule } from './schedule.ts';
import { nextRunTime } from './schedule.ts';

export interface StoredSchedule {
  readonly schedule: Schedule;
  readonly version: number;
  /** By the store's clock. */
  readonly updatedAt: number;
}

export function readSchedule(record: StoredRecord): StoredSchedule | null {
  const { key, value, version, updatedAt } = record;
  try {
    const schedule: unknown = JSON.parse(value);
    return isSchedule(schedule, key) ? { schedule, version, updatedAt } : null;
  } catch {
    return null;
  }
}

const NUMBERS = ['createdAt', 'changedAt', 'mark', 'made', 'skipped', 'missed'] as const;
const LISTS = ['queued', 'pending', 'open', 'recent'] as const;

function isSchedule(value: unknown, name: string): value is Schedule {
  if (typeof value !== 'object' || value === null) return false;
  const schedule = value as Schedule;
  if (schedule.name !== name || !NUMBERS.every((field) => Number.isSafeInteger(schedule[field]))) return false;
  if (!LISTS.every((field) => Array.isArray(schedule[field]))) return false;
  const { rule, catchUpMs, jitterMs, job } = schedule.definition;
  const isWhole = [catchUpMs, jitterMs].every((ms) => Number.isSafeInteger(ms) && ms >= 0);
  const isFinite = rule.kind === 'cron' || (rule.everyMs >= 1_000 && Number.isSafeInteger(rule.anchorAt));
  if (!isWhole || !isFinite || typeof job.queue !== 'string' || typeof job.data !== 'string') return false;
  // An unknown rule or zone throws.
  nextRunTime(schedule.definition, schedule.mark);
  return true;
}
