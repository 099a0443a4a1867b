/** Records: versions that only grow, conditional writes, expiry, and lists in byte order. */
import { expect, it } from 'vitest';
import type { PutRecord } from '../../src/core/ports/records.ts';
import type { Open } from './contract.ts';
import { outcomeOf, START, type Workbench } from './workbench.ts';

const aRecord = (record: Partial<PutRecord> = {}): PutRecord => ({ kind: 'schedule', key: 'k', value: '1', ...record });

async function versionOf(bench: Workbench, record: Partial<PutRecord> = {}): Promise<number> {
  const result = await bench.records.put(aRecord(record));
  if (!result.ok) throw new Error(result.refusal.code);
  return result.version;
}

export function recordContract(open: Open): void {
  it('keep a value under kind and key', async () => {
    const bench = await open();
    expect(await bench.records.get('schedule', 'k')).toBeNull();
    const version = await versionOf(bench, { value: ' {"é": 1.0} ' });
    const kept = { kind: 'schedule', key: 'k', version, value: ' {"é": 1.0} ', expiresAt: null, updatedAt: START };
    expect(await bench.records.get('schedule', 'k')).toEqual(kept);
    expect(await bench.records.get('token', 'k')).toBeNull();
    expect(await bench.records.get('schedule', 'K')).toBeNull();
  });

  it('have versions that only grow, even across a delete', async () => {
    const bench = await open();
    const versions = [await versionOf(bench), await versionOf(bench, { value: '2' })];
    await bench.records.delete('schedule', 'k');
    versions.push(await versionOf(bench));
    expect(versions[0]).toBeGreaterThan(0);
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  });

  it('can be put on condition of a version', async () => {
    const bench = await open();
    const put = async (ifVersion: number, value = '2') =>
      outcomeOf(await bench.records.put(aRecord({ ifVersion, value })));
    expect(await put(1)).toBe('version-conflict');
    expect(await put(0, 'first')).toBe('ok');
    expect(await put(0)).toBe('version-conflict');
    const record = await bench.records.get('schedule', 'k');
    expect(record?.value).toBe('first');
    expect(await put(record?.version ?? 0, 'second')).toBe('ok');
    expect(await put(record?.version ?? 0, 'third')).toBe('version-conflict');
    expect((await bench.records.get('schedule', 'k'))?.value).toBe('second');
  });

  it('can be deleted on condition of a version', async () => {
    const bench = await open();
    const remove = async (ifVersion?: number) =>
      outcomeOf(await bench.records.delete('schedule', 'k', ifVersion === undefined ? {} : { ifVersion }));
    expect(await remove()).toBe('not-found');
    const version = await versionOf(bench);
    expect(await remove(version + 1)).toBe('version-conflict');
    expect(await remove(version)).toBe('ok');
    expect(await remove(version)).toBe('not-found');
    expect(await bench.records.get('schedule', 'k')).toBeNull();
    const again = await versionOf(bench, { ifVersion: 0 });
    expect(await remove(version)).toBe('version-conflict');
    expect(again).toBeGreaterThan(version);
  });

  it('let one of many writers win', async () => {
    const bench = await open();
    const version = await versionOf(bench);
    const puts = Array.from({ length: 10 }, (_, index) =>
      bench.records.put(aRecord({ value: String(index), ifVersion: version })),
    );
    const outcomes = (await Promise.all(puts)).map(outcomeOf);
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'version-conflict')).toHaveLength(9);
  });

  it('do not exist after they have expired, for every call', async () => {
    const bench = await open();
    const version = await versionOf(bench, { expiresAt: START + 10 });
    bench.pass(9);
    expect(await bench.records.get('schedule', 'k')).toMatchObject({ version, expiresAt: START + 10 });
    bench.pass(1);
    expect(await bench.records.get('schedule', 'k')).toBeNull();
    expect(await bench.records.list({ kind: 'schedule', limit: 10 })).toEqual([]);
    expect(outcomeOf(await bench.records.put(aRecord({ ifVersion: version })))).toBe('version-conflict');
    expect(outcomeOf(await bench.records.delete('schedule', 'k'))).toBe('not-found');
    expect(await versionOf(bench, { ifVersion: 0 })).toBeGreaterThan(version);
    expect(await bench.records.get('schedule', 'k')).toMatchObject({ expiresAt: null, updatedAt: START + 10 });
  });

  it('are listed in byte order, by prefix, and page by page', async () => {
    const bench = await open();
    const keys = ['b', 'a', 'B', 'a/2', 'a/10', 'é', '😀', '\uffee', 'a%', 'a_', ''];
    for (const key of keys) await versionOf(bench, { key });
    await versionOf(bench, { kind: 'token', key: 'a' });
    const list = async (query: { prefix?: string; after?: string; limit?: number }) =>
      (await bench.records.list({ kind: 'schedule', limit: 100, ...query })).map(({ key }) => key);
    const sorted = ['', 'B', 'a', 'a%', 'a/10', 'a/2', 'a_', 'b', 'é', '\uffee', '😀'];
    expect(await list({})).toEqual(sorted);
    expect(await list({ prefix: 'a' })).toEqual(['a', 'a%', 'a/10', 'a/2', 'a_']);
    expect(await list({ prefix: 'a/' })).toEqual(['a/10', 'a/2']);
    expect(await list({ prefix: 'a%' })).toEqual(['a%']);
    expect(await list({ prefix: 'a_' })).toEqual(['a_']);
    expect(await list({ after: 'a/10', limit: 2 })).toEqual(['a/2', 'a_']);
    expect(await list({ after: 'a0' })).toEqual(['a_', 'b', 'é', '\uffee', '😀']);
    expect(await list({ prefix: 'a', after: 'a/10' })).toEqual(['a/2', 'a_']);
    expect(await list({ after: '😀' })).toEqual([]);
    expect(await list({ limit: 1 })).toEqual(['']);
  });

  it('accept any key and a large value', async () => {
    const bench = await open();
    const keys = ['__proto__', 'a:b', '{x}', "'; --", 'line\nbreak', '0', '00', 'k'.repeat(500)];
    const value = JSON.stringify('ü'.repeat(100_000));
    for (const key of keys) await versionOf(bench, { key, value });
    for (const key of keys) expect((await bench.records.get('schedule', key))?.value).toBe(value);
    expect(await bench.records.list({ kind: 'schedule', limit: 100 })).toHaveLength(keys.length);
  });

  it('change a queue as soon as they are put, and restore its defaults when they are deleted', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    await bench.setQueue('q', { state: 'paused' });
    expect(await bench.claimIds()).toEqual([]);
    await bench.records.delete('queue', 'q');
    expect(await bench.claimIds()).toEqual(['a']);
  });
}
