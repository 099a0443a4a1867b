/**
 * What a bridge takes from Blueque, qless and Worqr, and what it makes of it. The Lua texts run in the source (see
 * held-entries.ts); they take waiting and scheduled entries, and leave what a worker of the source is running.
 */
import { createHash } from 'node:crypto';
import type { ForeignJob, ForeignKeys, ForeignSchedule, ForeignSettings } from '../foreign-job.ts';
import { DEFAULT_JOB, ONLY_JOBS } from '../foreign-job.ts';
import { readTask } from '../read-blueque.ts';
import { readJob, readRecurring, readSettings } from '../read-qless.ts';
import { TAKE_BLUEQUE, TAKE_QLESS, TAKE_WORQR } from './take-scripts.ts';

export type Converted =
  | { readonly kind: 'job'; readonly job: ForeignJob; readonly isTracked?: boolean }
  | { readonly kind: 'schedule'; readonly schedule: ForeignSchedule }
  | { readonly kind: 'problem'; readonly message: string };

export interface FollowSystem {
  readonly system: string;
  /** The hash of the held entries in the source. */
  readonly key: string;
  readonly take: string;
  /** The arguments of `take`, after the limit. Read-only, and repeated only now and then. */
  takeArgs(keys: ForeignKeys): Promise<readonly string[]>;
  /** What the system has besides jobs; copied once. */
  settings(keys: ForeignKeys): Promise<ForeignSettings>;
  /** `id`: for entries that have none. */
  convert(entry: Readonly<Record<string, unknown>>, id: string): Converted;
  /** Keys of the source that end with the entry. */
  endedKeys(entry: Readonly<Record<string, unknown>>): readonly string[];
}

type Entry = Readonly<Record<string, unknown>>;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const hashIn = (value: unknown): Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};

export function followWorqr(prefix = 'worqr'): FollowSystem {
  return {
    system: 'Worqr',
    key: `longhaul:import:worqr:${prefix}`,
    take: TAKE_WORQR,
    async takeArgs(keys) {
      const start = `${prefix}:queues:`;
      return [start, ...(await keys.keys(start)).map((key) => key.slice(start.length))];
    },
    settings: async () => ONLY_JOBS,
    convert({ queue, task }: Entry, id) {
      const job = { ...DEFAULT_JOB, id: `worqr-${id}`, queue: textOf(queue), data: JSON.stringify(textOf(task)) };
      return { kind: 'job', job: { ...job, state: 'waiting' } };
    },
    // Otherwise no producer could add a unique task again: only a worker of Worqr deletes its lock.
    endedKeys: ({ task }) => [`${prefix}:uniqueTasks:${createHash('md5').update(textOf(task)).digest('hex')}`],
  };
}

export const FOLLOW_BLUEQUE: FollowSystem = {
  system: 'Blueque',
  key: 'longhaul:import:blueque',
  take: TAKE_BLUEQUE,
  takeArgs: async () => [],
  settings: async () => ONLY_JOBS,
  convert({ id, queue, fields }: Entry) {
    const task: Readonly<Record<string, string>> = { ...hashIn(fields), queue: textOf(queue) };
    // A listener of Blueque that died in between may have left another status.
    const isKnown = ['pending', 'scheduled', undefined].includes(task['status']);
    const job = readTask(textOf(id), isKnown ? task : { ...task, status: 'pending' });
    return typeof job === 'string' ? { kind: 'problem', message: job } : { kind: 'job', job };
  },
  endedKeys: () => [],
};

export const FOLLOW_QLESS: FollowSystem = {
  system: 'qless',
  key: 'longhaul:import:qless',
  take: TAKE_QLESS,
  takeArgs: async () => [],
  // A job is tracked when it is moved.
  settings: async (keys) => ({ ...(await readSettings(keys)), tracked: [] }),
  convert({ kind, jid, fields, dependencies, scheduledAt, putAt, isTracked }: Entry) {
    const [id, hash] = [textOf(jid), hashIn(fields)];
    if (kind === 'recurring') return { kind: 'schedule', schedule: readRecurring(id, hash) };
    const job = readJob(
      id,
      { ...hash, state: 'waiting' },
      {
        dependsOn: Array.isArray(dependencies) ? dependencies.map(String) : [],
        runAt: textOf(scheduledAt) === '' ? null : Math.round(Number(scheduledAt) * 1_000),
        history: { queue: null, putAt: textOf(putAt) === '' ? null : Number(putAt) * 1_000, popped: 0 },
      },
    );
    return typeof job === 'string'
      ? { kind: 'problem', message: job }
      : { kind: 'job', job, isTracked: isTracked === '1' };
  },
  endedKeys: () => [],
};
