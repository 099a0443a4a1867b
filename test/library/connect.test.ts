/** The addresses and options of connect(). */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/library/index.ts';

test.each([
  ['ftp://host', 'none of: a directory'],
  ['sqlite:', 'names no directory'],
])('An address that means no store is refused: %s', async (address, words) => {
  await expect(connect(address)).rejects.toMatchObject({ code: 'bad-input', message: expect.stringContaining(words) });
});

test('An unknown option is refused with a suggestion.', async () => {
  await expect(connect('memory:', { namspace: 'x' } as never)).rejects.toThrow('did you mean namespace?');
});

test('A Redis server that does not answer is reported as unavailable, with its address.', async () => {
  await expect(connect('redis://127.0.0.1:1')).rejects.toMatchObject({
    code: 'store-unavailable',
    message: expect.stringContaining('127.0.0.1:1'),
  });
});

test('A store without a directory of its own keeps the log of a handler in the data directory given as home.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const home = join(folder, 'made', 'by-connect');
  await using longhaul = await connect('memory:', { home });
  const queue = longhaul.queue('q');
  queue.work((job) => job.log('a line'));
  const job = await queue.add(null);
  await job.finished();
  expect(readFileSync(join(home, 'jobs', job.id, 'attempts', '1', 'log'), 'utf8')).toBe('a line\n');
});

test('A SQLite store refuses another data directory, and any store one that cannot be written.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const own = join(folder, 'own');
  await expect(connect(own, { home: join(folder, 'other') })).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining(`home: must be left out: the data directory of this SQLite store is ${own}`),
  });
  expect(existsSync(own)).toBe(false);
  await (await connect(own, { home: `${folder}/./own` })).close();
  writeFileSync(join(folder, 'file'), '');
  await expect(connect('memory:', { home: join(folder, 'file') })).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining('home: must be a directory that this process can write'),
  });
});

test('A program that node reads from standard input can use the library, with a worker.', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-stdin-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const library = new URL('../../dist/library/index.js', import.meta.url).href;
  const program = `
    import { connect } from '${library}';
    const longhaul = await connect(process.argv[2]);
    const queue = longhaul.queue('q');
    const worker = queue.work(({ data }) => console.log('did', data.n));
    const job = await queue.add({ n: 7 });
    await job.finished();
    await worker.stop();
    await longhaul.close();
  `;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-', folder], { input: program });
  expect(String(printed)).toBe('did 7\n');
});
