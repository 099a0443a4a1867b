/** `kill -9` of a worker, and of a producer, in the middle of a file: no part of it is visible, and the job does not run. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { waitFor } from '../../src/testing/index.ts';
import { startFixture } from '../support/processes.ts';
import { aFolder, filesBelow } from './blobs-workbench.ts';

describe('a process that is killed while it stores a file', () => {
  it('leaves no part of an output visible, and the next attempt attaches all of it', async () => {
    const home = await aFolder();
    await using longhaul = await connect(home);
    const queue = longhaul.queue('films');
    await queue.configure({ lease: 500, maxCrashes: 3 });
    const job = await queue.add(null);
    const first = await startFixture('attach-worker.mjs', [home, 'half']);
    await first.next(({ type }) => type === 'half');
    await first.kill9();
    expect(await longhaul.files(job.id).list()).toEqual([]);
    expect(filesBelow(join(home, 'blobs')).filter((path) => !path.startsWith('uploads/'))).toEqual([]);

    const second = await startFixture('attach-worker.mjs', [home, 'whole']);
    expect(await second.next(({ type }) => type === 'attached')).toMatchObject({ size: 64 * 65_536 + 7 });
    await job.finished();
    await second.kill9();
    const [file, ...others] = await longhaul.files(job.id).list();
    expect(others).toEqual([]);
    expect((await file?.bytes())?.subarray(-7).toString()).toBe('the end');
  });

  it('leaves a draft that never runs, and a repeated add completes it', async () => {
    const home = await aFolder();
    await using longhaul = await connect(home);
    const queue = longhaul.queue<null, string>('films');
    const producer = await startFixture('attach-producer.mjs', [home, 'killed']);
    await producer.next(({ type }) => type === 'half');
    await producer.kill9();
    const ran: string[] = [];
    queue.work(async (job) => {
      ran.push(job.id);
      return (await job.files.get('film.bin')).text();
    });
    expect(await queue.run(null, { attach: { 'film.bin': Buffer.from('other') } })).toBe('other');
    expect(await longhaul.find('killed')).toMatchObject({ state: 'draft' });
    expect((await longhaul.files('killed').list()).map(({ name }) => name)).toEqual(['first.txt']);
    expect(await longhaul.commit('killed')).toMatchObject({
      ok: false,
      refusal: { message: expect.stringContaining('attachment film.bin of job killed is incomplete') },
    });

    const attach = { 'first.txt': Buffer.from('1'), 'film.bin': Buffer.from('whole') };
    const again = await queue.add(null, { id: 'killed', attach });
    expect(await again.finished()).toBe('whole');
    await waitFor('both ran', () => ran.length === 2);
  });
});
