import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BACKLOG_LIMIT, dropBacklog } from './drop-backlog.ts';
import { SaidReader } from './said-reader.ts';

function aFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-backlog-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'said');
  writeFileSync(path, text);
  return path;
}

it('leaves alone what is not very much, and what is not there', () => {
  const path = aFile('run a\n');
  expect([dropBacklog(path, 0), dropBacklog('/nowhere/said', 0)]).toEqual([0, 0]);
  expect(statSync(path).size).toBe(6);
});

it('drops what is far too much, keeps its end, and reading goes on', () => {
  const path = aFile('err early\nrun half a li');
  const reader = new SaidReader(path);
  reader.read();
  // A hole of the file system costs no disk, and is read as a line that never ends.
  truncateSync(path, BACKLOG_LIMIT * 3);
  appendFileSync(path, `\n${'run noise\n'.repeat(10_000)}done late\n`);
  const batch = reader.read();
  expect(batch?.dropped).toBeGreaterThan(2 * BACKLOG_LIMIT);
  expect(statSync(path).size).toBeLessThan(100_000);
  while (reader.read()) continue;
  expect(reader.said).toMatchObject({ status: 'late', completion: { kind: 'err', text: 'early' } });
});
