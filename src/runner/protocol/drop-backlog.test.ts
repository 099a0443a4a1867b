import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BACKLOG_LIMIT } from './drop-backlog.ts';
import { ReportReader } from './report-reader.ts';

function aFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-backlog-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'reports');
  writeFileSync(path, text);
  return path;
}

it('drops nothing of a short backlog', () => {
  const path = aFile('run a\n');
  expect(new ReportReader(path).read()?.dropped).toBe(0);
  expect(statSync(path).size).toBe(6);
});

it('drops a backlog that is too long, keeps its tail, and reading continues', () => {
  const path = aFile('');
  const reader = new ReportReader(path);
  appendFileSync(path, 'err early\nrun half a li');
  reader.read();
  // A hole in the file takes no disk space, and reads as a line that never ends.
  truncateSync(path, BACKLOG_LIMIT * 3);
  appendFileSync(path, `\n${'run noise\n'.repeat(10_000)}done late\n`);
  const batch = reader.read();
  expect(batch?.dropped).toBeGreaterThan(2 * BACKLOG_LIMIT);
  expect(statSync(path).size).toBeLessThan(100_000);
  while (reader.read()) continue;
  expect(reader.said).toMatchObject({ status: 'late', completion: { kind: 'err', text: 'early' } });
});

const aStep = (n: number): string => `step ${'ab'.repeat(16)}-${n}\n`;

it('keeps a wait among noise', () => {
  const path = aFile('');
  const reader = new ReportReader(path);
  appendFileSync(path, 'run begun\n');
  reader.read();
  const noise = 'run noise\n'.repeat(BACKLOG_LIMIT / 10 + 10_000);
  appendFileSync(path, `run noise\nwait approval 60\n${noise}`);
  while (reader.read()) continue;
  expect(reader.said).toMatchObject({ completion: { kind: 'wait', name: 'approval' } });
});

it('never drops a line that matters, wherever it is', () => {
  const noise = 'run noise\n'.repeat(300_000);
  const path = aFile('');
  const reader = new ReportReader(path);
  appendFileSync(path, `resend 5-first\n${noise}dup 0-X-a\n${noise}result {"a":1}\n${aStep(1)}${aStep(2)}`);
  for (let round = 0; round < 6; round += 1) appendFileSync(path, noise);
  appendFileSync(
    path,
    `tag seen\nresend 7-second\n${noise}checkpoint {"at":${'9'.repeat(200_000)}}\n${noise}run last\n`,
  );
  const dups: string[] = [];
  const steps: string[] = [];
  let dropped = 0;
  for (let batch = reader.read(); batch; batch = reader.read()) {
    dropped += batch.dropped;
    for (const { verb } of batch.heard) if (verb.kind === 'dup') dups.push(verb.dest);
    for (const { verb } of batch.heard) if (verb.kind === 'step') steps.push(`step ${verb.key}\n`);
  }
  expect(dropped).toBeGreaterThan(BACKLOG_LIMIT);
  expect(dups).toEqual(['a']);
  expect(steps).toEqual([aStep(1), aStep(2)]);
  expect(reader.said).toMatchObject({
    status: 'last',
    completion: { kind: 'resend', reason: 'first' },
    resends: 2,
    result: '{"a":1}',
    tags: ['seen'],
    checkpoint: `{"at":${'9'.repeat(200_000)}}`,
  });
});

it('drops nothing that was reported before the reader opened the file', () => {
  const path = aFile(`done early\n${'run on and on and on and on and on and on\n'.repeat(BACKLOG_LIMIT / 40)}`);
  const { size } = statSync(path);
  expect(size).toBeGreaterThan(BACKLOG_LIMIT);
  const reader = new ReportReader(path);
  while (reader.read()) continue;
  expect(reader.said.completion).toMatchObject({ kind: 'done', text: 'early' });
  expect(statSync(path).size).toBe(size);
});
