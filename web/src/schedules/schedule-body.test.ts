import { expect, it } from 'vitest';
import { newSchedule } from '../../../src/core/schedules/schedule.ts';
import { toDefinition } from '../../../src/core/schedules/schedule-input.ts';
import { scheduleView } from '../../../src/wire/schedule-view.ts';
import { bodyOf, fieldsOf } from './schedule-body.ts';

it.each([
  { cron: '30 3 * * 1-5', zone: 'Europe/Berlin', queue: 'q', data: { a: [1] }, options: { tags: ['t'], retries: 2 } },
  { every: '90m', offset: '5m', from: 1_700_000_000_000, until: 1_900_000_000_000, queue: 'q', ids: 'count' as const },
  { every: '1h', queue: 'q', overlap: 'queue' as const, backlog: null, jitter: '10m', catchUp: '2h' },
])('an unchanged form gives the same schedule', (input) => {
  const definition = toDefinition(input);
  const view = scheduleView(newSchedule('s', definition, 1_750_000_000_000), {
    now: 1_750_000_000_000,
    states: new Map(),
  });
  const { queue, overlap, catchUp, backlog, jitter, data } = view;
  const fields = {
    queue,
    overlap,
    catchUp,
    jitter,
    backlog: backlog === null ? '' : String(backlog),
    data: JSON.stringify(data),
  };
  expect(toDefinition(bodyOf(fieldsOf(view), fields, view) as never)).toEqual(definition);
});
