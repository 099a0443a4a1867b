/** What the API answers of insight: statistics, tags, tracked jobs, what a search found, what settings mean. */
import { anything, fields, listOf, orNull, text } from '../core/check.ts';
import { dayStatistics, held, prunableJobs, storageFields, tagCounts } from './port-answers.ts';
import { ms, word } from './port-checks.ts';
import { jobView } from './views.ts';

const MOST = 10_000;

export const statisticsView = fields({ days: dayStatistics });
export const prunableView = fields({ jobs: prunableJobs });
export const storageView = fields({
  queues: listOf(fields({ ...storageFields, logs: orNull(held), attachments: orNull(held) }), MOST),
});
export const tagsView = fields({ tags: tagCounts });
export const trackedView = fields({
  jobs: listOf(fields({ id: word, trackedAt: ms, job: orNull(jobView) }), MOST),
});
export const settingsView = fields({
  settings: listOf(fields({ name: word, about: text({ max: 1_000 }), default: anything }), 1_000),
});
