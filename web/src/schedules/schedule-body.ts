/** A schedule between the form and the API: what the form shows of it, and what it says. Pure. */
import type { ScheduleView } from '../../../src/wire/schedule-view.ts';

/** Texts as they stand in the fields. */
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

export interface Said {
  readonly queue: string;
  readonly overlap: string;
  readonly catchUp: string;
  /** A number, or nothing for all. */
  readonly backlog: string;
  readonly jitter: string;
  /** JSON text. */
  readonly data: string;
}

/** The whole definition: what the form does not show is as it was. */
export function bodyOf(rule: ScheduleFields, said: Said, before: ScheduleView | null): object {
  return {
    ...ruleBody(rule),
    ...(before !== null && { from: before.from, until: before.until, ids: before.ids, options: before.options }),
    queue: said.queue,
    overlap: said.overlap,
    ...(said.catchUp !== '' && { catchUp: said.catchUp }),
    backlog: said.backlog === '' ? null : Number(said.backlog),
    ...(said.jitter !== '' && { jitter: said.jitter }),
    data: JSON.parse(said.data) as unknown,
  };
}
