/** The programs of examples/, run as a user would: copied to a folder, with the built package and plain node. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTrial } from '../server/trial-server.ts';
import { spawnGuarded } from '../support/guarded-process.ts';
import { root } from './markdown.ts';

const run = promisify(execFile);
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-examples-'));
  cpSync(join(root, 'examples'), folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/longhaul'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { ...process.env, STORE: 'memory:' };
const outputOf = async (...line: string[]): Promise<string> =>
  (await run(process.execPath, line, { cwd: folder, env, timeout: 60_000 })).stdout;

test('The video pipeline repeats only the step that failed.', async () => {
  expect((await outputOf('video-pipeline/pipeline.mjs')).split('\n')).toEqual([
    'cut metropolis',
    'join metropolis-1.mp4 metropolis-2.mp4 metropolis-3.mp4',
    'upload metropolis.mp4, try 1',
    'upload metropolis.mp4, try 2',
    'https://films.example/metropolis.mp4',
    '',
  ]);
});

test('The nightly report waits for its shops.', async () => {
  expect(await outputOf('nightly-report/report.mjs', '--now')).toBe(
    'every day at 03:30 (Europe/Berlin)\n{ shops: 3, orders: 150 }\nberlin,60\nlyon,40\nporto,50\n',
  );
});

test('The isolated handler counts primes on two cores, and is killed by a cancel.', async () => {
  const output = await outputOf('isolated-cpu/main.mjs');
  expect(output).toContain('[ 17984, 25997 ]');
  expect(output).toContain('cancelled; the event loop had many turns');
});

test('The program that was moved from BullMQ retries, fails for good, and adds an id once.', async () => {
  expect((await outputOf('from-bullmq/mails.mjs')).replace(/job \S+/, 'job ID')).toBe(
    "{ to: 'ada@example.com', attempt: 1 }\n{ to: 'flaky@example.com', attempt: 2 }\njob ID failed: nowhere is no address\nexists\n",
  );
});

test('The web application shows the progress of a job until its end.', async () => {
  const app = await spawnGuarded(process.execPath, ['live-progress/app.mjs'], {
    cwd: folder,
    env: { ...env, PORT: '0' },
  });
  onTestFinished(async () => {
    app.signal('SIGTERM');
    await app.ended;
  });
  const [url] = await new Promise<string[]>((resolve) =>
    createInterface({ input: app.stdout }).once('line', (line) => resolve([line])),
  );
  expect(await (await fetch(`${url}/`)).text()).toContain('<progress');
  const { id } = (await (await fetch(`${url}/exports`, { method: 'POST' })).json()) as { id: string };
  const events = (await (await fetch(`${url}/exports/${id}`)).text()).trim().split('\n\n');
  const seen = events.map((line) => JSON.parse(line.slice('data: '.length)) as { percent: number; state: string });
  expect(seen.at(-1)).toMatchObject({ state: 'done', percent: 100, ended: true });
  expect(seen.filter(({ percent }) => percent > 0 && percent < 100).length).toBeGreaterThan(1);
});

test('The worker in Python runs a job with progress, and reports an exception as a failure.', async () => {
  const { port, ask } = await startTrial();
  const add = (id: string, data: object) => ask('POST', '/api/jobs', { body: { queue: 'words', id, data } });
  const worker = () =>
    run('python3', [join(folder, 'python-worker/worker.py'), '--once'], {
      env: { ...env, LONGHAUL_URL: `http://127.0.0.1:${port}` },
      timeout: 60_000,
    });
  await add('good', { text: 'friends romans countrymen' });
  expect((await worker()).stdout).toBe('good done\n');
  await add('bad', {});
  expect((await worker()).stdout).toBe('bad failed\n');
});

test('The index names every example, and each is run by a test.', () => {
  const index = readFileSync(join(root, 'examples/README.md'), 'utf8');
  const folders = readdirSync(join(root, 'examples'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.filter(({ name }) => !index.includes(`| [${name}](${name}`))).toEqual([]);
});
