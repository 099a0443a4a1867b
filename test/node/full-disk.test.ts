/**
 * A node whose data directory is on a disk of 24 MB that fills up while jobs run: new jobs get 507, everything else
 * continues, it recovers without help, and nothing that was acknowledged is lost.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import { eventually } from '../processes/runner-workbench.ts';
import { testSize } from '../support/test-size.ts';
import { get, post } from './serve-bench.ts';
import { canMount, fill, roomOn, type SmallDisk, serveOnSmallDisk } from './small-disk.ts';

// A new disk after a few rounds: on one disk the database grew to 12 MB in 25 rounds, and left no space for the
// ballast.
const ROUNDS = testSize({ small: 3, full: 5 });
const DISKS = testSize({ small: [1], full: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] });
const DATA = JSON.stringify('x'.repeat(2_000));
/** Waits for the file named by its data. */
const STEADY = 'while [ ! -e "$LONGHAUL_PARAM1" ]; do sleep 0.1; done; echo it ended';

/** One call of the store's port over HTTP. */
async function call<T>(
  disk: SmallDisk,
  name: string,
  argument: unknown,
): Promise<{ status: number; answer: T; text: string }> {
  const { status, text } = await post(disk.url, `/api/store/${name}`, { argument });
  return { status, text, answer: JSON.parse(text) as T };
}

async function addUntilFull(disk: SmallDisk, round: number, acked: Set<string>): Promise<void> {
  for (let each = 0; ; each += 1) {
    const id = `job-${round}-${each}`;
    const { status, text } = await call(disk, 'add', [{ id, queue: 'mail', data: DATA }]);
    if (status === 200) acked.add(id);
    else {
      expect({ status, code: (JSON.parse(text) as { code: string }).code }).toEqual({
        status: 507,
        code: 'store-full',
      });
      return;
    }
  }
}

/** Running jobs heartbeat, complete and fail; waiting ones are cancelled and deleted. */
async function everythingElseWorks(disk: SmallDisk, held: readonly Job[], acked: Set<string>): Promise<void> {
  for (const [place, { id, lease }] of held.entries()) {
    const token = lease?.token ?? 0;
    expect((await call<{ ok: boolean }[]>(disk, 'heartbeat', [{ id, token }])).answer[0]?.ok).toBe(true);
    const failure = { group: 'g', message: 'm', detail: null };
    const how = place % 2 === 0 ? { kind: 'complete', result: '1' } : { kind: 'fail', failure, delayMs: 0 };
    expect((await call<{ ok: boolean }[]>(disk, 'settle', [{ id, token, ...how }])).answer[0]?.ok).toBe(true);
  }
  const { answer } = await call<{ jobs: readonly Job[] }>(disk, 'list', {
    order: 'newest',
    state: 'waiting',
    queue: 'mail',
    limit: 20,
  });
  for (const { id } of answer.jobs) {
    expect((await call<{ ok: boolean }[]>(disk, 'cancel', [{ id }])).answer[0]?.ok).toBe(true);
    expect((await call<{ ok: boolean }[]>(disk, 'delete', [id])).answer[0]?.ok).toBe(true);
    acked.delete(id);
  }
}

// Needs permission to mount a file system.
describe.skipIf(!canMount)('a node on a disk that is full', () => {
  it.each(DISKS)(
    'refuses new work with 507 and nothing else, stays up, and goes on when there is room: disk %s',
    async () => {
      const disk = await serveOnSmallDisk({ steady: STEADY });
      const acked = new Set<string>();
      for (let round = 0; round < ROUNDS; round += 1) {
        const gate = join(disk.inside, `gate-${round}`);
        const base = Array.from({ length: 60 }, (_, each) => ({
          id: `base-${round}-${each}`,
          queue: 'mail',
          data: DATA,
        }));
        const steady = { id: `steady-${round}`, queue: 'steady', data: JSON.stringify({ param1: gate }) };
        expect((await call(disk, 'add', [...base, steady])).status).toBe(200);
        for (const { id } of [...base, steady]) acked.add(id);
        const claim = { worker: 'w', queues: ['mail'], limit: 30, requestId: String(round) };
        const { jobs: held } = (await call<{ jobs: readonly Job[] }>(disk, 'claim', claim)).answer;
        const find = async (id: string) => (await call<readonly (Job | null)[]>(disk, 'find', [id])).answer[0];
        await eventually(
          () => find(steady.id),
          (job) => job?.state === 'running' && job.lease?.startedAt !== null,
          30_000,
        );

        fill(disk, Math.floor(Math.random() * 512 * 1024));
        await addUntilFull(disk, round, acked);
        expect(await get(disk.url, '/healthz')).toMatchObject({ status: 200 });
        expect(await get(disk.url, '/readyz')).toMatchObject({
          status: 503,
          text: expect.stringContaining('disk') as string,
        });
        await everythingElseWorks(disk, held, acked);
        writeFileSync(join(disk.outside, `gate-${round}`), '');
        await eventually(
          () => find(steady.id),
          (job) => job?.state === 'done',
          30_000,
        );
        // The log marks that the disk was full.
        const log = readFileSync(join(disk.outside, 'jobs', steady.id, 'attempts/1/log'), 'utf8');
        expect(log.split('\n').filter((line) => !line.startsWith('[longhaul: the disk was full'))).toEqual([
          'it ended',
          '',
        ]);

        rmSync(join(disk.outside, 'filler'));
        const after = [{ id: `after-${round}`, queue: 'mail', data: DATA }];
        const addAgain = async () => ({ status: (await call(disk, 'add', after)).status, round, ...roomOn(disk) });
        await eventually(addAgain, ({ status }) => status === 200, 20_000);
        acked.add(`after-${round}`);
        await eventually(
          async () => (await get(disk.url, '/readyz')).status,
          (status) => status === 200,
          20_000,
        );

        const ids = [...acked];
        const { answer: found } = await call<readonly (Job | null)[]>(disk, 'find', ids);
        expect(ids.filter((_, place) => found[place] === null)).toEqual([]);
        const ended = ids.filter((_, place) => found[place]?.state !== 'running');
        await call(disk, 'delete', ended);
        for (const id of ended) acked.delete(id);
      }
      expect(existsSync(join(disk.outside, 'ballast'))).toBe(true);
      disk.node.signal('SIGTERM');
      expect((await disk.node.ended).code).toBe(0);
    },
    120_000,
  );
});
