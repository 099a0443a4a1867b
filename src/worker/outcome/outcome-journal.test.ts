import { spawnSync } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Settlement } from '../../core/ports/job-store.ts';
import { openJournal } from './outcome-journal.ts';
import { isSameProcess, startTimeOf } from './process-age.ts';

let folder = '';
beforeEach(async () => {
  setAside = [];
  folder = await mkdtemp(join(tmpdir(), 'longhaul-journal-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const aSettlement = (token: number): Settlement => ({ id: `job-${token}`, token, kind: 'complete', result: '"ä"' });
let setAside: { path: string; settlements: number }[] = [];
const journalOf = (worker: string) =>
  openJournal({
    path: join(folder, 'journal'),
    pid: process.pid,
    worker,
    onSetAside: (path, settlements) => setAside.push({ path, settlements }),
  });
const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid;
const leave = (name: string, ...lines: unknown[]) =>
  writeFile(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

describe('the journal', () => {
  it('has no file before the first settlement, and none after all are answered', async () => {
    const journal = journalOf('a');
    expect(await readdir(folder)).toEqual([]);
    await journal.append([aSettlement(1), aSettlement(2)]);
    expect(await readdir(folder)).toHaveLength(1);
    await journal.answered([1]);
    expect(await readdir(folder)).toHaveLength(1);
    await journal.answered([2]);
    expect(await readdir(folder)).toEqual([]);
    await journal.append([aSettlement(3)]);
    const [name = ''] = await readdir(folder);
    expect(await readFile(join(folder, name), 'utf8')).toBe(`${JSON.stringify({ settle: aSettlement(3) })}\n`);
  });

  it('can be adopted by any worker once it is closed, even in the same process', async () => {
    const journal = journalOf('a');
    await journal.append([aSettlement(1)]);
    expect(await journalOf('b').adopt()).toEqual([]);
    await journal.close();
    await journal.close();
    expect(await journalOf('b').adopt()).toEqual([aSettlement(1)]);
  });

  it('adopts the unanswered settlements of a process that has ended, once', async () => {
    await leave(
      `journal.${deadPid()}-1-x.ndjson`,
      { settle: aSettlement(1) },
      { settle: aSettlement(2) },
      { answered: 1 },
    );
    const [one, other] = [journalOf('a'), journalOf('b')];
    const found = await Promise.all([one.adopt(), other.adopt()]);
    expect(found.flat()).toEqual([aSettlement(2)]);
    expect(await readdir(folder)).toHaveLength(1);
    await Promise.all([one.answered([2]), other.answered([2])]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves the journal of a living process alone, but adopts one whose pid was reused', async () => {
    const start = startTimeOf(process.pid) ?? '';
    await leave(`journal.${process.pid}-${start}-x.ndjson`, { settle: aSettlement(1) });
    await leave(`journal.${process.pid}-${Number(start) - 1}-x.ndjson`, { settle: aSettlement(2) });
    await leave('journal-of-mine.ndjson', { settle: aSettlement(3) });
    expect(await journalOf('a').adopt()).toEqual([aSettlement(2)]);
  });

  it('ignores a line that a crash cut short', async () => {
    const name = `journal.${deadPid()}-1-x.ndjson`;
    await leave(name, { settle: aSettlement(1) });
    await appendFile(join(folder, name), '{"settle":{"id":"job-2","tok');
    expect(await journalOf('a').adopt()).toEqual([aSettlement(1)]);
  });

  it('names its store in its first line', async () => {
    const journal = journalOf('a');
    journal.belongTo('store-1');
    await journal.append([aSettlement(1)]);
    await journal.append([aSettlement(2)]);
    const [name = ''] = await readdir(folder);
    const lines = (await readFile(join(folder, name), 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { store: 'store-1' },
      { settle: aSettlement(1) },
      { settle: aSettlement(2) },
    ]);
    await journal.close();
  });

  it('is set aside by a worker of another store, once, and adopted by the next one of its own', async () => {
    const [own, other, next] = [journalOf('own'), journalOf('other'), journalOf('next')];
    for (const journal of [own, next]) journal.belongTo('store-1');
    other.belongTo('store-2');
    await own.append([aSettlement(1)]);
    await own.close();
    expect(await other.adopt()).toEqual([]);
    expect(await other.adopt()).toEqual([]);
    expect(setAside).toMatchObject([{ settlements: 1 }]);
    expect(await readdir(folder)).toEqual([basename(setAside[0]?.path ?? '')]);
    expect(await next.adopt()).toEqual([aSettlement(1)]);
  });

  it('finds nothing where there is no directory, and creates it when needed', async () => {
    const journal = openJournal({
      path: join(folder, 'new', 'journal'),
      pid: process.pid,
      worker: 'a',
      onSetAside: () => undefined,
    });
    expect(await journal.adopt()).toEqual([]);
    await journal.append([aSettlement(1)]);
    expect(await readdir(join(folder, 'new'))).toHaveLength(1);
    await journal.close();
  });
});

describe('a process is identified by its pid and its start time', () => {
  it('is the same while it lives, and not when another has its pid', () => {
    const start = startTimeOf(process.pid) ?? '';
    expect(isSameProcess(process.pid, start)).toBe(true);
    expect(isSameProcess(process.pid, String(Number(start) + 1))).toBe(false);
    expect(isSameProcess(deadPid(), '1')).toBe(false);
  });
});
