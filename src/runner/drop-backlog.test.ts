import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BACKLOG_LIMIT } from './drop-backlog.ts';
import { SaidReader } from './said-reader.ts';

function aFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-backlog-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'said');
  writeFileSync(path, text);
  return path;
}

it('leaves alone what is not very much', () => {
  const path = aFile('run a\n');
  expect(new SaidReader(path).read()?.dropped).toBe(0);
  expect(statSync(path).size).toBe(6);
});

it('drops what is far too much, keeps its end, and reading goes on', () => {
  const path = aFile('');
  const reader = new SaidReader(path);
  appendFileSync(path, 'err early\nrun half a li');
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

it('drops nothing of what was said while nobody was there', () => {
  const path = aFile(`done early\n${'run on and on and on and on and on and on\n'.repeat(BACKLOG_LIMIT / 40)}`);
  const { size } = statSync(path);
  expect(size).toBeGreaterThan(BACKLOG_LIMIT);
  const reader = new SaidReader(path);
  while (reader.read()) continue;
  expect(reader.said.completion).toMatchObject({ kind: 'done', text: 'early' });
  expect(statSync(path).size).toBe(size);
});
