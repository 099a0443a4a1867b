import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ReportBatch, ReportReader } from './report-reader.ts';

function aFile(text = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-said-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'reports');
  writeFileSync(path, text);
  return path;
}

function readAll(reader: ReportReader): ReportBatch[] {
  const batches: ReportBatch[] = [];
  for (let batch = reader.read(); batch; batch = reader.read()) batches.push(batch);
  return batches;
}

describe('a report reader', () => {
  it('continues from its offset, and delivers only complete lines', () => {
    const path = aFile('run a\nrun b\ndo');
    const reader = new ReportReader(path);
    expect(readAll(reader)).toMatchObject([{ to: 12, superseded: 1, heard: [{ at: 6, verb: { text: 'b' } }] }]);
    expect(reader.read()).toBeNull();
    appendFileSync(path, 'ne ok\n');
    expect(readAll(reader)).toMatchObject([{ heard: [{ at: 12, verb: { kind: 'done', text: 'ok' } }] }]);
    expect(reader.finish()).toBeNull();
  });

  it('delivers at the end a line without a newline', () => {
    const reader = new ReportReader(aFile('done'));
    readAll(reader);
    expect(reader.said.completion).toBeNull();
    expect(reader.finish()).toMatchObject({ said: { completion: { kind: 'done' } } });
  });

  it('has nothing to read while the file does not exist', () => {
    expect(new ReportReader('/nowhere/said').read()).toBeNull();
  });

  it('keeps the order, every dup, and the last of each other kind', () => {
    const lines = ['run a', 'dup 0-X-q', 'run b', 'tag x', 'dup 0-X-q', 'tag x', 'tag y', 'done ok'];
    const [batch] = readAll(new ReportReader(aFile(`${lines.join('\n')}\n`)));
    expect(batch?.heard.map(({ verb }) => verb)).toMatchObject([
      { kind: 'dup' },
      { kind: 'run', text: 'b' },
      { kind: 'dup' },
      { kind: 'tag', text: 'x' },
      { kind: 'tag', text: 'y' },
      { kind: 'done' },
    ]);
    expect(batch?.superseded).toBe(2);
  });

  it('accumulates lines that were processed before, but does not deliver them again', () => {
    const reader = new ReportReader(aFile('dup 0-X-a\nerr early\ndup 0-X-b\n'), 20);
    const [batch] = readAll(reader);
    expect(batch?.heard).toMatchObject([{ verb: { dest: 'b' } }]);
    expect(reader.said.completion).toMatchObject({ kind: 'err', text: 'early' });
  });

  it('makes small batches of very many lines', () => {
    const reader = new ReportReader(aFile(`${'run again\n'.repeat(200_000)}run last\n`));
    const batches = readAll(reader);
    expect(Math.max(...batches.map(({ heard }) => heard.length))).toBe(1);
    expect(batches.reduce((sum, { superseded }) => sum + superseded, 0)).toBeGreaterThan(190_000);
    expect(reader.said.status).toBe('last');
  });
});
