/** Files of TypeScript jobs: the same promises over every place of files. One entry in files.test.ts for each place. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JobFile, Longhaul } from '../../src/library/index.ts';
import { waitFor } from '../../src/testing/index.ts';
import { handlesLeftBy } from '../support/open-handles.ts';

export interface PlaceUnderTest {
  open(): Promise<Longhaul>;
  /** Whether the content is on this machine under a path. */
  readonly isLocal: boolean;
  /** Whether only reads, writes and the lease are tested: for a place whose parts are tested in full elsewhere. */
  readonly isBrief?: boolean;
}

const factsOf = ({ name, size, sha256, direction }: JobFile) => ({ name, size, sha256, direction });
const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');

export function filesOver(name: string, { open, isLocal, isBrief = false }: PlaceUnderTest): void {
  describe(`Files over ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-content-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    let longhaul: Longhaul;
    let queues = 0;
    // One connection for all tests, each with a queue of its own: opening one is most of the time of a test.
    const aQueue = <Result = unknown>() => longhaul.queue<string, Result>(`files-${queues++}`);
    beforeAll(async () => {
      longhaul = await open();
    });
    afterAll(() => longhaul.close());

    // First, while no other worker of this file runs.
    test('Closing the connection leaves no timer, socket or thread of its files.', async () => {
      const left = await handlesLeftBy(async () => {
        const other = await open();
        const queue = other.queue<string, string>('closed');
        queue.work(async (job) => (await job.attach('a.txt', Readable.from(['text']))).text());
        expect(await queue.run('x', { attach: { 'in.txt': Buffer.from('in') } })).toBe('text');
        await other.close();
      });
      expect(left).toEqual([]);
    });

    test('A job is added with files from a path, bytes and a stream, and its handler reads them.', async () => {
      const queue = aQueue();
      const path = join(folder, 'source.txt');
      writeFileSync(path, 'from a path');
      const attach = {
        'path.txt': path,
        'empty.bin': new Uint8Array(),
        'bytes.json': Buffer.from('{"a":[1]}'),
        'stream.txt': Readable.from(['from ', 'a ', 'stream']),
      };
      const job = await queue.add('x', { attach });
      queue.work(async ({ files }) => {
        const saved = join(folder, 'saved.txt');
        await (await files.get('path.txt')).save(saved);
        const stream = await files.get('stream.txt');
        const local = await stream.localPath();
        expect(local === null ? null : readFileSync(local, 'utf8')).toBe(isLocal ? 'from a stream' : null);
        return [
          readFileSync(saved, 'utf8'),
          await (await files.get('bytes.json')).json(),
          await stream.text(),
          (await stream.stream({ start: 5, end: 6 }).toArray()).join(''),
          (await (await files.get('empty.bin')).bytes()).length,
        ];
      });
      expect(await job.finished()).toEqual(['from a path', { a: [1] }, 'from a stream', 'a', 0]);
      expect((await longhaul.files(job.id).list()).map(factsOf)).toContainEqual({
        name: 'stream.txt',
        size: 13,
        sha256: sha256Of('from a stream'),
        direction: 'in',
      });
    });

    test('An attempt that lost its lease cannot attach.', async () => {
      const queue = aQueue();
      const refused: unknown[] = [];
      const work = queue.work(async (job) => {
        work.pause();
        await longhaul.failWorker(work.id);
        await job.attach('late.txt', Buffer.from('late')).catch((error: unknown) => refused.push(error));
      });
      await work.ready;
      const job = await queue.add('x');
      await waitFor('the attempt was refused', () => refused.length === 1);
      expect(String(refused[0])).toMatch(/no longer leased under this token|the lease was lost/);
      expect(await longhaul.files(job.id).list()).toEqual([]);
    });

    if (isBrief) return;

    test('A handler attaches files, and its child and other callers read them.', async () => {
      const queue = aQueue<unknown>();
      const children = longhaul.queue<null, string>(`${queue.name}-child`);
      const parent = await queue.add('x', { attach: { 'same.txt': Buffer.from('input') } });
      const child = await children.add(null, { dependsOn: [parent.id] });
      queue.work(async (job) => {
        const file = await job.attach('same.txt', Buffer.from('output'));
        return [factsOf(file), await file.text(), await (await job.files.get('same.txt', { direction: 'in' })).text()];
      });
      children.work(async (job) => {
        const [found] = await job.parents();
        return (await found?.files.get('same.txt'))?.text() ?? '';
      });
      const facts = { name: 'same.txt', size: 6, sha256: sha256Of('output'), direction: 'out' };
      expect(await parent.finished()).toEqual([facts, 'output', 'input']);
      expect(await child.finished()).toBe('output');
      expect(await (await longhaul.files(parent.id).get('same.txt')).text()).toBe('output');
      await expect(longhaul.files(parent.id).get('other.txt')).rejects.toMatchObject({
        code: 'refused',
        message: `file other.txt of job ${parent.id} does not exist; the job has same.txt`,
        refusal: { code: 'not-found' },
      });
    });

    test('A job with a bad file name or path is not added, and the error names all of them.', async () => {
      const queue = aQueue();
      const attach = { '../up': Buffer.from('a'), 'gone.txt': join(folder, 'gone.txt'), 'n.txt': 7 as never };
      await expect(queue.add('x', { attach })).rejects.toMatchObject({
        code: 'bad-input',
        problems: [
          { path: 'attach["../up"]', message: expect.stringContaining('must not be') },
          { path: 'attach["gone.txt"]', message: expect.stringContaining('there is no file') },
          { path: 'attach["n.txt"]', message: expect.stringContaining('must be a path, bytes or a stream') },
        ],
      });
      expect(await queue.count()).toMatchObject({ draft: 0, waiting: 0 });
    });

    test('A job whose second file fails is not added, and nothing of it is left.', async () => {
      const queue = aQueue();
      const failing = Readable.from(
        (async function* () {
          yield Buffer.from('half');
          throw new Error('the disk of the producer failed');
        })(),
      );
      const attach = { 'good.txt': Buffer.from('good'), 'half.txt': failing };
      const adding = queue.add('x', { id: `${queue.name}-failing`, attach });
      await expect(adding).rejects.toThrow('the disk of the producer failed');
      expect(await longhaul.find(`${queue.name}-failing`)).toBeNull();
      await waitFor('its files are gone', async () => {
        return (
          (
            await longhaul
              .files(`${queue.name}-failing`)
              .list()
              .catch(() => [])
          ).length === 0
        );
      });
    });

    test('A repeated add finishes a draft that the first left behind, and a finished one stays as it is.', async () => {
      const queue = aQueue();
      const id = `${queue.name}-repeated`;
      await longhaul.store.jobs.add([{ id, queue: queue.name, data: '"x"', draft: true }]);
      const again = () => queue.add('x', { id, attach: { 'a.txt': Buffer.from('a') } });
      expect((await again()).outcome).toBe('exists');
      expect(await longhaul.find(id)).toMatchObject({ state: 'waiting' });
      expect((await again()).outcome).toBe('exists');
      expect((await longhaul.files(id).list()).map((file) => file.name)).toEqual(['a.txt']);
      await expect(longhaul.files(id).attach('late.txt', Buffer.from('b'))).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining('attachments can change only while a job is a draft'),
        refusal: { code: 'wrong-state' },
      });
    });

    test('A taken unique key returns its holder, and a draft with files waits for its commit.', async () => {
      const queue = aQueue();
      const attach = { 'a.txt': Buffer.from('a') };
      const first = await queue.add('x', { unique: 'k', attach });
      expect(await queue.add('y', { unique: 'k', attach })).toMatchObject({ outcome: 'duplicate', id: first.id });
      expect(await queue.count()).toMatchObject({ draft: 0, waiting: 1 });
      const draft = await queue.add('z', { draft: true, attach });
      await longhaul.files(draft.id).attach('b.txt', Buffer.from('b'));
      expect(await longhaul.find(draft.id)).toMatchObject({ state: 'draft' });
      expect(await longhaul.commit(draft.id)).toMatchObject({ ok: true });
      expect((await longhaul.files(draft.id).list()).map((file) => file.name)).toEqual(['a.txt', 'b.txt']);
    });

    test('Files of a failed attempt stay, and the next attempt replaces them by name.', async () => {
      const queue = aQueue<readonly string[]>();
      await queue.configure({ retries: 1, backoff: 0 });
      queue.work(async (job) => {
        const before = await Promise.all((await job.files.list()).map((file) => file.text()));
        await job.attach('part.txt', Buffer.from(`of ${job.attempt}`));
        if (job.attempt === 1) throw new Error('once');
        return before;
      });
      const job = await queue.add('x');
      expect(await job.finished()).toEqual(['of 1']);
      expect(await (await longhaul.files(job.id).get('part.txt')).text()).toBe('of 2');
    });

    test('A result over 256 KB is the file result.json, and finished() reads it back.', async () => {
      const queue = aQueue<unknown>();
      const large = { text: 'ü'.repeat(200_000) };
      queue.work(async (job) => (job.data === 'large' ? large : { attachment: 'result.json' }));
      const job = await queue.add('large');
      expect(await job.finished()).toEqual(large);
      expect((await longhaul.find(job.id))?.result).toEqual({ attachment: 'result.json' });
      expect(await (await longhaul.files(job.id).get('result.json')).json()).toEqual(large);
      expect(await longhaul.finished(job.id)).toEqual(large);
      // A small result of the same form is a result.
      expect(await queue.run('small')).toEqual({ attachment: 'result.json' });
    });

    test('A step result over 256 KB is a file of the job, and a later attempt reads it back.', async () => {
      const queue = aQueue<unknown>();
      await queue.configure({ retries: 1, backoff: 0 });
      const large = { text: 'ü'.repeat(200_000) };
      let runs = 0;
      queue.work(async (job) => {
        const first = await job.step('cut/all', () => ({ ...large, run: ++runs }));
        const again = await job.step('cut', () => large);
        if (job.attempt === 1) throw new Error('once');
        return [first, again].map((each) => [each.text.length, 'run' in each ? each.run : null]);
      });
      const job = await queue.add('x');
      const expected = [
        [200_000, 1],
        [200_000, null],
      ];
      expect(await job.finished()).toEqual(expected);
      const names = (await longhaul.files(job.id).list()).map((file) => file.name);
      expect(names.toSorted()).toEqual([expect.stringMatching(/^step-[0-9a-f]{32}\.json$/), 'step-cut.json']);
      const sha256 = sha256Of(JSON.stringify(large));
      expect((await longhaul.steps(job.id))[1]?.result).toBe(JSON.stringify({ attachment: 'step-cut.json', sha256 }));
    });

    test('Children with large results are returned, and a file in place of a step result is refused.', async () => {
      const queue = aQueue<unknown>();
      await queue.configure({ retries: 1, backoff: 0, onDependencyFailed: 'run' });
      const parts = aQueue<string>();
      parts.work(async () => 'x'.repeat(300_000));
      queue.work(async (job) => {
        const [child] = await job.children<string>([{ queue: parts.name, data: 'x' }]);
        await job.step('cut', () => child?.result);
        if (job.attempt === 2) return child?.result?.length;
        await job.attach('step-cut.json', Buffer.from(JSON.stringify('y'.repeat(300_000))));
        throw new Error('once');
      });
      const message = 'the result of step cut was the file step-cut.json of job';
      await expect(queue.run('x')).rejects.toThrow(message);
    });
  });
}
