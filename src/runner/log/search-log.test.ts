import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filesOf } from '../attempt/attempt-files.ts';
import { searchLog } from './search-log.ts';

function aLog(text: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-search-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (text !== null) writeFileSync(filesOf(folder).log, text);
  return folder;
}

const linesOf = async (folder: string, query: Parameters<typeof searchLog>[1]) =>
  (await searchLog(folder, query)).matches.map(({ line }) => line);

describe('searching a log for a text', () => {
  it('finds each matching line once', async () => {
    const folder = aLog('one\nfoo foo\nthree\na foo\n');
    expect(await searchLog(folder, { text: 'foo' })).toEqual({
      matches: [
        { line: 2, offset: 4, text: 'foo foo' },
        { line: 4, offset: 20, text: 'a foo' },
      ],
      stopped: null,
      message: null,
    });
    expect(await linesOf(folder, { text: 'o.e' })).toEqual([]);
    expect(await linesOf(folder, { text: '' })).toEqual([]);
    expect(await linesOf(aLog(null), { text: 'x' })).toEqual([]);
  });

  it('finds a match across read borders', async () => {
    const border = 256 * 1024;
    for (const before of [border - 4, border - 1, border, 2 * border - 2]) {
      const text = `${'x'.repeat(before - 1)}\nneedle\nmore\n`;
      expect(await searchLog(aLog(text), { text: 'needle' })).toMatchObject({
        matches: [{ line: 2, offset: before, text: 'needle' }],
      });
    }
  });

  it('counts lines across read borders', async () => {
    const text = `${'.\n'.repeat(400_000)}needle\n`;
    expect(await linesOf(aLog(text), { text: 'needle' })).toEqual([400_001]);
  });

  it('stops at the limit', async () => {
    const found = await searchLog(aLog('foo\n'.repeat(500)), { text: 'foo', limit: 3 });
    expect(found.stopped).toBe('limit');
    expect(found.matches).toHaveLength(3);
  });

  it('returns a part of a long line', async () => {
    const [match] = (await searchLog(aLog(`${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}`), { text: 'needle' }))
      .matches;
    expect(match?.text).toMatch(/^x{300}needley{294}$/);
  });

  it('can ignore case, and still takes every character literally', async () => {
    const folder = aLog('Disk (FULL)\ndisk full\n');
    expect(await linesOf(folder, { text: 'disk (full)', ignoreCase: true })).toEqual([1]);
  });

  it('neither finds nor shows a secret', async () => {
    const folder = aLog('key=hunter2 ok\n');
    expect(await linesOf(folder, { text: 'hunter2', secrets: ['hunter2'] })).toEqual([]);
    expect(await linesOf(folder, { expression: 'hunt.*2', secrets: ['hunter2'] })).toEqual([]);
    expect((await searchLog(folder, { text: 'ok', secrets: ['hunter2'] })).matches[0]?.text).toBe('key=******* ok');
  });
});

describe('searching a log for an expression', () => {
  it('finds lines, numbers and offsets', async () => {
    const folder = aLog('one\nerror 17: x error 18\n\nwarning\nerror 9\n');
    expect((await searchLog(folder, { expression: 'error [0-9]{2}|^warn' })).matches).toEqual([
      { line: 2, offset: 4, text: 'error 17: x error 18' },
      { line: 4, offset: 26, text: 'warning' },
    ]);
    expect(await linesOf(folder, { expression: 'ERROR 9$', ignoreCase: true })).toEqual([5]);
  });

  it('never interprets an expression as an option or a command', async () => {
    const folder = aLog('a -v b; $(id)\n');
    expect(await linesOf(folder, { expression: '-v' })).toEqual([1]);
    expect(await linesOf(folder, { expression: String.raw`\$\(id\)` })).toEqual([1]);
  });

  it('stops at the limit', async () => {
    const found = await searchLog(aLog('foo\n'.repeat(300_000)), { expression: 'fo+', limit: 5 });
    expect(found).toMatchObject({ stopped: 'limit', matches: [{ line: 1 }, {}, {}, {}, { line: 5 }] });
  });

  it('reports what is wrong with an expression', async () => {
    const found = await searchLog(aLog('x\n'), { expression: 'a{2,1}' });
    expect(found.stopped).toBe('expression');
    expect(found.message).not.toBe('');
  });

  it('stops an expression that takes too long', async () => {
    const startedAt = performance.now();
    const text = `${'a'.repeat(1_501)}b\n`.repeat(50);
    const expression = String.raw`^(a*)(a*)\1\2b?c*$`;
    expect(await searchLog(aLog(text), { expression, timeoutMs: 500 })).toMatchObject({ stopped: 'time' });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('treats binary data as text', async () => {
    expect(await linesOf(aLog('\0\xff\nfoo\0bar\n'), { expression: 'foo' })).toEqual([2]);
  });
});
