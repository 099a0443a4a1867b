import { expect, test } from 'vitest';
import type { Job } from '../../../core/job/job.ts';
import type { MigratedJob } from '../../../core/ports/migration.ts';
import { movedJobArguments, readMovedJobs } from './migrated-job.ts';

const LONG = 'l\u001f'.repeat(600);

/** Every part that a job may have, each unlike its default. A new part is added here. */
const FULL: Job = {
  id: 'full',
  queue: 'q',
  name: 'a name\u001e',
  data: '{"a":"\u001f"}',
  state: 'waiting',
  priority: -3,
  tags: ['t', 'u\u001f'],
  policy: { retries: 2, maxResends: 3, onDependencyFailed: 'run', throttles: ['x'], key: 'k' },
  unique: { key: 'u\u001d', scope: 'store', until: 'period', periodMs: 9 },
  parents: { of: 3, open: 1, bad: 1 },
  dependents: 4,
  createdAt: 1_000,
  seq: 77,
  runAt: 1_500,
  delayMs: 12,
  freedAt: 1_400,
  returnedAt: 1_400,
  turn: 5,
  coalesceKey: 'e\u001f',
  foldedInto: 'leader',
  folded: 6,
  slots: [],
  steps: { count: 2, bytes: 20 },
  suspension: { until: 9, event: 'go', ranMs: 7 },
  attempt: 7,
  failures: 8,
  resends: 9,
  crashes: 10,
  interruptions: 11,
  lease: null,
  progress: { percent: 40.5, text: 'half\u001e', at: 1_300 },
  checkpoint: '1',
  result: '2',
  failure: { group: 'g\u001f', message: 'm', detail: 'd' },
  forwardedTo: 'http://there',
  endedAt: 1_600,
};
const HISTORY: MigratedJob['history'] = [
  { at: 1_000, event: 'added', state: 'draft', attempt: 0, token: null, by: null, note: null },
  { at: 1_100, event: 'folded', state: 'waiting', attempt: 0, token: null, by: null, note: 'n\u001f' },
  { at: 1_200, event: 'failed', state: 'failed', attempt: 7, token: 9, by: 'w\u001e', note: null },
];
const STEPS: MigratedJob['steps'] = [
  {
    number: 1,
    kind: 'run',
    name: 'cut: a#2',
    status: 'failed',
    result: null,
    failure: 'no\u001f disk',
    attempts: 2,
    startedAt: 5,
    endedAt: 6,
    until: null,
  },
  {
    number: 2,
    kind: 'event',
    name: 'go',
    status: 'arrived',
    result: '{"a":1}',
    failure: null,
    attempts: 0,
    startedAt: 5,
    endedAt: 7,
    until: 9,
  },
];
const MOVED: MigratedJob = {
  job: FULL,
  history: HISTORY,
  steps: STEPS,
  parents: [
    { seq: 3, isOpen: true },
    { seq: 90, isOpen: false },
  ],
  holds: { until: null },
};

const throughRedis = (moved: MigratedJob): MigratedJob | undefined => {
  const [id = '', record = '', count = '', ...rest] = movedJobArguments(moved);
  const [texts, [edges, until, steps]] = [rest.slice(0, Number(count)), rest.slice(Number(count))];
  return readMovedJobs(['', '1', `${edges}\u001f${until}\u001f${steps}`, id, record, ...texts]).jobs[0];
};

test('A job with everything in it is written and read the same.', () => {
  expect(throughRedis(MOVED)).toEqual(MOVED);
});

test('So is one whose texts stand apart, one with nothing in it, and one that holds no key.', () => {
  const failure = { group: 'g', message: 'm', detail: LONG };
  const long = { ...MOVED, job: { ...FULL, data: LONG, result: LONG, checkpoint: LONG, failure }, holds: null };
  expect(throughRedis(long)).toEqual(long);
  const bare = Object.fromEntries(
    Object.entries(FULL).map(([name, value]) => [name, typeof value === 'number' ? 0 : null]),
  ) as unknown as Job;
  const { id, queue, data, state } = FULL;
  const job: Job = { ...bare, id, queue, data, state, tags: [], policy: {}, slots: [], createdAt: 5, runAt: 5 };
  const [first] = HISTORY as [MigratedJob['history'][number]];
  const plain: MigratedJob = {
    job,
    history: [{ ...first, at: 5, state: 'waiting' }],
    steps: [],
    parents: [],
    holds: null,
  };
  expect(throughRedis(plain)).toEqual(plain);
});
