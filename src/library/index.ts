/** The package's face: what `import … from 'longhaul'` gives. */

export type { AddOptions } from '../core/add-options.ts';
export type { Duration } from '../core/duration.ts';
export type { ErrorCode, Problem } from '../core/errors.ts';
export { LonghaulError } from '../core/errors.ts';
export type { HistoryRow } from '../core/history.ts';
export type { StatisticsQuestion, TagCount } from '../core/insight.ts';
export type { Failure, JobState } from '../core/job.ts';
export type { FailureGroup, QueueCounts, StoreEvent, WorkerRecord } from '../core/job-store.ts';
export type { Label } from '../core/label.ts';
export type { Prunable } from '../core/prunable.ts';
export type { Refusal, RefusalCode } from '../core/refusal.ts';
export type { ScheduleInput } from '../core/schedule-input.ts';
export type { QueueSettings } from '../core/settings.ts';
export type { SettingsInput } from '../core/settings-input.ts';
export type { DayStatistics } from '../core/statistics.ts';
export type { JobView } from '../wire/job-view.ts';
export type { ScheduleView } from '../wire/schedule-view.ts';
export type { ActiveJob, Handler } from './active-job.ts';
export type { AddedJob } from './added-job.ts';
export type { ConnectOptions } from './connect.ts';
export { connect } from './connect.ts';
export type { Longhaul } from './longhaul.ts';
export { advance, fail, forward, release, retry } from './outcome.ts';
export type { Queue, QueueOptions } from './queue.ts';
export type { ScheduleResult, Schedules } from './schedules.ts';
export type { StandardSchema } from './standard-schema.ts';
export type { Work, WorkOptions } from './work.ts';
