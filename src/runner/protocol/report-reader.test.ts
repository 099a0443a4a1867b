import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type SaidBatch, SaidReader } from './report-reader.ts';

function aFile(text = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-said-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'said');
  writeFileSync(path, text);
  return path;
}

function readAll(reader: SaidReader): SaidBatch[] {
  const batches: SaidBatch[] = [];
  for (let batch = reader.read(); batch; batch = reader.read()) batches.push(batch);
  return batches;
}

describe('the reader of what is said', () => {
  it('goes on from where it stopped, and hears a line only when it is whole', () => {
    const path = aFile('run a\nrun b\ndo');
    const reader = new SaidReader(path);
    expect(readAll(reader)).toMatchObject([{ to: 12, leftOut: 1, heard: [{ at: 6, verb: { text: 'b' } }] }]);
    expect(reader.read()).toBeNull();
    appendFileSync(path, 'ne ok\n');
    expect(readAll(reader)).toMatchObject([{ heard: [{ at: 12, verb: { kind: 'done', text: 'ok' } }] }]);
    expect(reader.finish()).toBeNull();
  });

  it('hears at the end what has no newline', () => {
    const reader = new SaidReader(aFile('done'));
    readAll(reader);
    expect(reader.said.completion).toBeNull();
    expect(reader.finish()).toMatchObject({ said: { completion: { kind: 'done' } } });
  });

  it('has nothing to read before anything was said', () => {
    expect(new SaidReader('/nowhere/said').read()).toBeNull();
  });

  it('keeps order, passes every dup on, and of the rest the last of its kind', () => {
    const lines = ['run a', 'dup 0-X-q', 'run b', 'tag x', 'dup 0-X-q', 'tag x', 'tag y', 'done ok'];
    const [batch] = readAll(new SaidReader(aFile(`${lines.join('\n')}\n`)));
    expect(batch?.heard.map(({ verb }) => verb)).toMatchObject([
      { kind: 'dup' },
      { kind: 'run', text: 'b' },
      { kind: 'dup' },
      { kind: 'tag', text: 'x' },
      { kind: 'tag', text: 'y' },
      { kind: 'done' },
    ]);
    expect(batch?.leftOut).toBe(2);
  });

  it('counts what was acted upon before, but does not pass it on again', () => {
    const reader = new SaidReader(aFile('dup 0-X-a\nerr early\ndup 0-X-b\n'), 20);
    const [batch] = readAll(reader);
    expect(batch?.heard).toMatchObject([{ verb: { dest: 'b' } }]);
    expect(reader.said.completion).toMatchObject({ kind: 'err', text: 'early' });
  });

  it('makes little of very many lines', () => {
    const reader = new SaidReader(aFile(`${'run again\n'.repeat(200_000)}run last\n`));
    const batches = readAll(reader);
    expect(Math.max(...batches.map(({ heard }) => heard.length))).toBe(1);
    expect(batches.reduce((sum, { leftOut }) => sum + leftOut, 0)).toBeGreaterThan(190_000);
    expect(reader.said.status).toBe('last');
  });
});
