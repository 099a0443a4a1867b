/** Answers of the insight routes: statistics, tags, tracked jobs, search results, explained settings. */
import { anything, fields, listOf, oneOf, orNull, text } from '../core/input/check.ts';
import { SETTING_NAMES, SETTING_SOURCES } from '../core/settings/global-settings.ts';
import { dayStatistics, held, prunableJobs, seriesPoints, storageFields, tagCounts } from './port-answers.ts';
import { ms, seriesSpan, word } from './port-checks.ts';
import { jobView } from './views.ts';

const MAX_ITEMS = 10_000;

export const statisticsView = fields({ days: dayStatistics });
export const throughputView = fields({ now: ms, span: seriesSpan, points: seriesPoints });
export type ThroughputView = ReturnType<typeof throughputView>;
export const prunableView = fields({ jobs: prunableJobs });
export const storageView = fields({
  queues: listOf(fields({ ...storageFields, logs: orNull(held), attachments: orNull(held) }), MAX_ITEMS),
});
export const tagsView = fields({ tags: tagCounts });
export const trackedView = fields({
  jobs: listOf(fields({ id: word, trackedAt: ms, job: orNull(jobView) }), MAX_ITEMS),
});
/**
 * `key` is the name in a queue's settings. `value` applies to queues that do not set their own. `alone` explains why the
 * setting cannot be set for all queues; null if it can.
 */
export const settingsView = fields({
  settings: listOf(
    fields({
      name: oneOf(...SETTING_NAMES),
      key: word,
      about: text({ max: 1_000 }),
      default: anything,
      value: anything,
      from: oneOf(...SETTING_SOURCES),
      alone: orNull(text({ max: 1_000 })),
    }),
    1_000,
  ),
});
export type SettingView = ReturnType<typeof settingsView>['settings'][number];
