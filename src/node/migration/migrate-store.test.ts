import { describe, expect, it } from 'vitest';
import type { NewJob } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import type { MigrationOptions, MigrationProgress } from './migrate-store.ts';
import { migrateStore } from './migrate-store.ts';

const JOBS = 450;

async function aStoreWith(jobs: number): Promise<Store> {
  const store = openMemoryStore();
  await store.jobs.add(
    Array.from({ length: jobs }, (_, number): NewJob => ({ id: `j-${number}`, queue: 'q', data: '1' })),
  );
  return store;
}

function options(from: Store, to: Store, more: Partial<MigrationOptions> = {}): MigrationOptions {
  return {
    from,
    to,
    fromName: 'from',
    toName: 'to',
    waitMs: 0,
    leave: false,
    signal: new AbortController().signal,
    now: () => 1,
    newId: () => 'm',
    onProgress: () => undefined,
    copyFiles: async () => undefined,
    ...more,
  };
}

describe('a store migration', () => {
  it('copies the logs that the old store keeps', async () => {
    const [from, to] = [await aStoreWith(2), openMemoryStore()];
    const { jobs } = await from.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: '1' });
    const { id = '', lease } = jobs[0] ?? {};
    await from.logs.append({ id, token: lease?.token ?? 0, offset: 0, text: 'grün\n' });
    await from.jobs.settle([{ id, token: lease?.token ?? 0, kind: 'complete' }]);
    await migrateStore(options(from, to));
    expect(await to.logs.read({ id, attempt: 1, from: 0 })).toMatchObject({ text: 'grün\n', size: 6 });
  });

  it('reports progress of both steps to the last row', async () => {
    const [from, to, reported] = [await aStoreWith(JOBS), openMemoryStore(), [] as MigrationProgress[]];
    await migrateStore(options(from, to, { onProgress: (progress) => reported.push(progress) }));
    for (const step of ['copy', 'compare'] as const) {
      const jobs = reported.filter((each) => each.step === step && each.part === 'jobs');
      expect(jobs.length).toBeGreaterThan(2);
      expect(jobs[0]).toMatchObject({ of: JOBS });
      expect(jobs.at(-1)).toMatchObject({ rows: JOBS, of: JOBS });
      expect(jobs.map(({ rows }) => rows)).toEqual(jobs.map(({ rows }) => rows).sort((a, b) => a - b));
    }
  });

  it.each(['copy', 'compare'] as const)(
    'that is aborted during %s leaves both stores closed, and resumes from there',
    async (step) => {
      const [from, to, stop] = [await aStoreWith(JOBS), openMemoryStore(), new AbortController()];
      const onProgress = (progress: MigrationProgress): void => {
        if (progress.step === step && progress.part === 'jobs') stop.abort();
      };
      await expect(migrateStore(options(from, to, { signal: stop.signal, onProgress }))).rejects.toThrow('abort');
      for (const store of [from, to]) {
        expect((await store.migration.standing())?.state).toBe('moving');
        expect(await store.jobs.add([{ id: 'new', queue: 'q', data: '1' }])).toMatchObject([{ ok: false }]);
      }
      const reported: MigrationProgress[] = [];
      await migrateStore(options(from, to, { onProgress: (progress) => reported.push(progress) }));
      const copied = reported.filter(({ step: each, part }) => each === 'copy' && part === 'jobs');
      expect(copied[0]?.rows).toBeGreaterThan(200);
      expect((await to.jobs.count(['q']))[0]).toMatchObject({ waiting: JOBS });
      expect((await to.migration.standing())?.state).toBe('over');
    },
  );

  it('copies files before a store is closed, and again when both are closed and equal', async () => {
    const [from, to] = [await aStoreWith(3), openMemoryStore()];
    const seen: unknown[] = [];
    const copyFiles = async (): Promise<void> => {
      const states = [from, to].map(async ({ migration }) => (await migration.standing())?.state);
      seen.push([...(await Promise.all(states)), (await to.jobs.count(['q']))[0]?.waiting]);
      if (seen.length === 2) throw new Error('the disk is full');
    };
    await expect(migrateStore(options(from, to, { copyFiles }))).rejects.toThrow('the disk is full');
    expect(seen).toEqual([
      [undefined, undefined, 0],
      ['moving', 'moving', 3],
    ]);
    expect((await from.migration.standing())?.state).toBe('moving');
    await migrateStore(options(from, to, { copyFiles }));
    expect(seen.slice(2)).toEqual([
      ['moving', 'moving', 3],
      ['moving', 'moving', 3],
    ]);
    expect((await to.migration.standing())?.state).toBe('over');
  });

  it('that is refused copies no files', async () => {
    const [from, to] = [await aStoreWith(3), await aStoreWith(1)];
    const copyFiles = async (): Promise<void> => Promise.reject(new Error('was copied'));
    await expect(migrateStore(options(from, to, { copyFiles }))).rejects.toThrow('is not empty');
  });

  it('waits for running jobs, and copies them', async () => {
    const [from, to] = [await aStoreWith(1), openMemoryStore()];
    const { jobs } = await from.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 'r' });
    const token = jobs[0]?.lease?.token ?? 0;
    const onProgress = ({ step }: MigrationProgress): void => {
      if (step === 'wait') void from.jobs.settle([{ id: 'j-0', token, kind: 'complete', result: '"late"' }]);
    };
    await migrateStore(options(from, to, { waitMs: 60_000, onProgress }));
    expect(await to.jobs.find(['j-0'])).toMatchObject([{ state: 'done', result: '"late"' }]);
  });

  it('leaves running and related jobs behind, and copies them with every edge after their end', async () => {
    const [from, to] = [openMemoryStore(), openMemoryStore()];
    const job = (id: string, dependsOn: readonly string[] = []): NewJob => ({ id, queue: 'q', data: '1', dependsOn });
    await from.jobs.add([job('before'), job('runs'), job('both', ['before', 'runs']), job('after', ['before'])]);
    const claimed = await from.jobs.claim({ worker: 'w', queues: ['q'], limit: 2, requestId: 'r' });
    const end = (id: string) => {
      const token = claimed.jobs.find((each) => each.id === id)?.lease?.token ?? 0;
      return from.jobs.settle([{ id, token, kind: 'complete' }]);
    };
    await end('before');
    const { left } = await migrateStore(options(from, to, { leave: true }));
    expect(left).toContain('runs');
    expect(left).toContain('both');
    expect(await to.jobs.find(['runs', 'both', 'after'])).toMatchObject([null, null, { state: 'waiting' }]);
    await end('runs');
    expect(await migrateStore(options(from, to))).toMatchObject({ kind: 'rest', left: [] });
    const next = await to.jobs.claim({ worker: 'w', queues: ['q'], limit: 9, requestId: 'there' });
    expect(next.jobs.map(({ id }) => id).sort()).toEqual(['after', 'both']);
    for (const id of ['both', 'after'])
      expect((await to.jobs.list({ child: id, order: 'newest', limit: 9 })).jobs.map((each) => each.id)).toContain(
        'before',
      );
    expect(await migrateStore(options(from, to))).toMatchObject({ kind: 'already' });
  });
});
