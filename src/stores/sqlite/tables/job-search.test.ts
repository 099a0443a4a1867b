/** Lists of a queue with so many jobs that a scan of all jobs replaces the sort. */
import { describe, expect, it } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import type { Job } from '../../../core/job/job.ts';
import { created } from '../../../core/lifecycle/lifecycle.ts';
import type { JobQuery } from '../../../core/ports/job-store.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings/settings.ts';
import { openConnection } from '../engine/connection.ts';
import { JobRows } from './job-rows.ts';
import { JobSearch, MAX_SORTED } from './job-search.ts';
import { QueueCounters } from './queue-counters.ts';

removeFoldersAtTheEnd();

const MANY = MAX_SORTED + 1;
const NEWEST = Number.MAX_SAFE_INTEGER;

/** Every five hundredth job is in the queue `few`, the others in `many`. */
async function aSearch(): Promise<{ search: JobSearch; jobs: readonly Job[] }> {
  const db = openConnection({ path: await aDatabasePath(), durability: 'relaxed' });
  const [rows, counters, jobs] = [new JobRows(db), new QueueCounters(db), [] as Job[]];
  db.exec('BEGIN');
  for (let seq = 1; seq <= MANY + 200; seq++) {
    const queue = seq % 500 === 0 ? 'few' : 'many';
    const { job, row } = created({ id: `${seq}`, queue, data: '{}' }, { now: seq, seq, settings: DEFAULT_SETTINGS });
    rows.insert(job, row);
    counters.add(job);
    jobs.push(job);
  }
  rows.flush();
  counters.save();
  db.exec('COMMIT');
  return { search: new JobSearch(db, counters), jobs };
}

describe('a list of very many waiting jobs', () => {
  it('has the newest first for every query', async () => {
    const { search, jobs } = await aSearch();
    const expected = (isWanted: (job: Job) => boolean, below = NEWEST) =>
      jobs
        .filter((job) => job.seq < below && isWanted(job))
        .reverse()
        .slice(0, 20)
        .map(({ id }) => id);
    const found = (query: Partial<JobQuery>, below = NEWEST) =>
      search.scan({ order: 'newest', limit: 20, ...query }, below, 20).map(({ id }) => id);
    const isMany = ({ queue }: Job): boolean => queue === 'many';

    expect(found({ queue: 'many', state: 'waiting' })).toEqual(expected(isMany));
    expect(found({ queue: 'many' }, 20_000)).toEqual(expected(isMany, 20_000));
    // The newest jobs of the store contain fewer of them than the limit.
    expect(found({ queue: 'few' })).toEqual(expected((job) => !isMany(job)));
    expect(found({ queue: 'few', state: 'waiting' })).toEqual(expected((job) => !isMany(job)));
    expect(found({ state: 'waiting' })).toEqual(expected(() => true));
    expect(found({ state: 'waiting', since: 10, before: 600 })).toEqual(
      expected(({ createdAt }) => createdAt >= 10 && createdAt < 600),
    );
    expect(found({ queue: 'many', state: 'done' })).toEqual([]);
  });
});
