/** Converts a schedule between the form and the API. Pure. */
import type { ScheduleView } from '../../../src/wire/schedule-view.ts';

/** The texts of the fields. */
export interface ScheduleFields {
  readonly kind: 'cron' | 'every';
  readonly cron: string;
  readonly zone: string;
  readonly every: string;
  readonly offset: string;
}

export function ruleBody({ kind, cron, zone, every, offset }: ScheduleFields): object {
  if (kind === 'cron') return { cron, ...(zone !== '' && { zone }) };
  return { every, ...(offset !== '' && { offset }) };
}

export function fieldsOf(schedule: ScheduleView | null): ScheduleFields {
  return {
    kind: schedule?.every ? 'every' : 'cron',
    cron: schedule?.cron ?? '0 3 * * *',
    zone: schedule?.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    every: schedule?.every ?? '1h',
    offset: schedule?.offset === '0ms' ? '' : (schedule?.offset ?? ''),
  };
}

export interface ScheduleInput {
  readonly queue: string;
  readonly overlap: string;
  readonly catchUp: string;
  /** A number; empty for all. */
  readonly backlog: string;
  readonly jitter: string;
  /** JSON text. */
  readonly data: string;
}

/** Returns the whole definition; parts that the form does not show keep their values. */
export function bodyOf(rule: ScheduleFields, input: ScheduleInput, before: ScheduleView | null): object {
  return {
    ...ruleBody(rule),
    ...(before !== null && { from: before.from, until: before.until, ids: before.ids, options: before.options }),
    queue: input.queue,
    overlap: input.overlap,
    ...(input.catchUp !== '' && { catchUp: input.catchUp }),
    backlog: input.backlog === '' ? null : Number(input.backlog),
    ...(input.jitter !== '' && { jitter: input.jitter }),
    data: JSON.parse(input.data) as unknown,
  };
}
