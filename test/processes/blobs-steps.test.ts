/**
 * Crash safety at every step: each system call by which blobs change the disk is, in a run of its own, the moment of a
 * kill -9. Afterwards visible blobs are intact, confirmed results hold, a repeat succeeds, and a sweep removes all leftovers.
 */
import { mkdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Blobs } from '../../src/files/blobs/blobs.ts';
import { openBlobs } from '../../src/files/blobs/open-blobs.ts';
import { testSize } from '../support/test-size.ts';
import { hasStrace, type Injection, nameOf, runStep, type StepRun } from './blobs-trace.ts';
import { aFolder, bytesOf, filesBelow, piecesOf, sha256Of } from './blobs-workbench.ts';

const bytes = bytesOf(1_200_000, 7);
const sha256 = sha256Of(bytes);
const ADDS = testSize({ small: ['upload'], full: ['upload', 'addFromStream', 'addFromPath'] });
const DAY_MS = 86_400_000;

interface Bench {
  readonly folder: string;
  readonly home: string;
  readonly args: (step: string) => string[];
  blobs(passedMs?: number): Promise<Blobs>;
  /** Restores the state before the step: empty, or with the blob. */
  reset(hasBlob: boolean): Promise<void>;
}

async function aBench(): Promise<Bench> {
  const folder = await aFolder();
  const [home, file, target] = ['home', 'content', 'target'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(file, bytes);
  const blobs = (passedMs = 0) => openBlobs({ folder: home, now: () => Date.now() + passedMs });
  return {
    folder,
    home,
    args: (step) => [home, step, file, sha256, target],
    blobs,
    reset: async (hasBlob) => {
      for (const path of [home, target]) await rm(path, { recursive: true, force: true });
      mkdirSync(target);
      if (hasBlob) await (await blobs()).addFromPath(file);
    },
  };
}

/** Returns each system call of the step, as a moment for a fault. */
async function momentsOf(bench: Bench, step: string, hasBlob: boolean): Promise<{ call: string; when: number }[]> {
  await bench.reset(hasBlob);
  const { output, calls } = await runStep(bench.folder, bench.args(step));
  expect(output).toMatchObject({ type: 'done' });
  const counts = new Map<string, number>();
  return calls.map((line) => {
    const call = nameOf(line);
    counts.set(call, (counts.get(call) ?? 0) + 1);
    return { call, when: counts.get(call) ?? 0 };
  });
}

async function eachMoment(
  step: string,
  { hasBlob, fault, calls = /./ }: { hasBlob: boolean; fault: string; calls?: RegExp },
  check: (bench: Bench, run: StepRun, injection: Injection) => Promise<void>,
): Promise<number> {
  const bench = await aBench();
  const moments = (await momentsOf(bench, step, hasBlob)).filter(({ call }) => calls.test(call));
  for (const moment of moments) {
    await bench.reset(hasBlob);
    const injection = { ...moment, fault };
    const run = await runStep(bench.folder, bench.args(step), injection);
    const { findings } = await (await bench.blobs()).scrub();
    expect({ injection, findings }).toEqual({ injection, findings: [] });
    await check(bench, run, injection);
  }
  return moments.length;
}

/** Expects a repeat to succeed, and nothing but the blob to be left. */
async function expectRecovery(bench: Bench): Promise<void> {
  const blobs = await bench.blobs();
  const begin = await blobs.begin({ id: 'step' });
  const offset = begin.ok ? begin.upload.offset : 0;
  if (begin.ok && begin.upload.blob === null)
    await blobs.append('step', { offset, source: piecesOf(bytes.subarray(offset)) });
  expect(await blobs.finish('step', { sha256 })).toMatchObject({ ok: true });
  const later = await bench.blobs(30 * DAY_MS);
  expect(await later.verify(sha256)).toBe('intact');
  await later.sweep({ referenced: async (hashes) => new Set(hashes) });
  expect(filesBelow(bench.home)).toEqual([`${sha256.slice(0, 2)}/${sha256}`]);
}

describe.skipIf(!hasStrace)('a kill at each call', () => {
  it.each(ADDS)('of %s', async (step) => {
    const moments = await eachMoment(step, { hasBlob: false, fault: 'signal=KILL' }, async (bench, { output }) => {
      const isThere = (await (await bench.blobs()).stat(sha256)) !== null;
      if (output?.type === 'done') expect(isThere).toBe(true);
      await expectRecovery(bench);
    });
    expect(moments).toBeGreaterThan(8);
  });

  it('of an add of an existing blob', async () => {
    await eachMoment('addFromStream', { hasBlob: true, fault: 'signal=KILL', calls: /fsync|rename/ }, async (bench) => {
      expect(await (await bench.blobs()).verify(sha256)).toBe('intact');
      await expectRecovery(bench);
    });
  });

  it('of staging leaves the blob intact', async () => {
    await eachMoment('stage', { hasBlob: true, fault: 'signal=KILL' }, async (bench) => {
      expect(await (await bench.blobs()).verify(sha256)).toBe('intact');
    });
  });

  it('of a sweep leaves the blob intact or deleted, and the next sweep finishes', async () => {
    const moments = await eachMoment('sweep', { hasBlob: true, fault: 'signal=KILL' }, async (bench, { output }) => {
      if (output !== null) expect(await (await bench.blobs()).stat(sha256)).toBeNull();
      await (await bench.blobs(DAY_MS)).sweep({ referenced: async () => new Set(), olderThanMs: 0 });
      expect(filesBelow(bench.home)).toEqual([]);
    });
    expect(moments).toBeGreaterThan(3);
  });

  it('of a sweep that must restore the blob never loses it', async () => {
    const moments = await eachMoment('sweepInVain', { hasBlob: true, fault: 'signal=KILL' }, async (bench) => {
      expect(await (await bench.blobs()).verify(sha256)).toBe('intact');
    });
    expect(moments).toBeGreaterThan(4);
  });
});

describe.skipIf(!hasStrace)('a disk that fails', () => {
  it('at any fsync makes the add fail without a second fsync of the same file', async () => {
    const how = { hasBlob: false, fault: 'error=EIO', calls: /fsync/ };
    const moments = await eachMoment('upload', how, async (bench, { output, calls }) => {
      expect(output).toEqual({ type: 'failed', code: 'store-unavailable' });
      const failed = calls.findIndex((line) => line.includes('EIO'));
      expect(calls.slice(failed + 1).filter((line) => line.startsWith('fsync'))).toEqual([]);
      if (calls[failed]?.includes('.part'))
        expect(filesBelow(bench.home).filter((path) => path.endsWith('.part'))).toEqual([]);
      await expectRecovery(bench);
    });
    expect(moments).toBeGreaterThan(3);
  });

  it('at any write with ENOSPC makes the add fail with store-full', async () => {
    const how = { hasBlob: false, fault: 'error=ENOSPC', calls: /pwrite/ };
    const moments = await eachMoment('upload', how, async (bench, { output }) => {
      expect(output).toEqual({ type: 'failed', code: 'store-full' });
      expect(await (await bench.blobs()).stat(sha256)).toBeNull();
      await expectRecovery(bench);
    });
    expect(moments).toBeGreaterThan(2);
  });

  it('during a large upload makes it fail, and discards the bytes that may be lost', async () => {
    const bench = await aBench();
    await bench.reset(false);
    await writeFile(join(bench.folder, 'content'), bytesOf(40_000_000));
    const injection = { call: 'fdatasync', when: 1, fault: 'error=EIO' };
    const { output } = await runStep(bench.folder, bench.args('upload'), injection);
    expect(output).toEqual({ type: 'failed', code: 'store-unavailable' });
    expect(filesBelow(bench.home)).toEqual([]);
  });
});

describe.skipIf(!hasStrace)('the order of an add', () => {
  it('is: sync of the content, rename, sync of the folder', async () => {
    const bench = await aBench();
    for (const step of ['addFromStream', 'addFromPath', 'upload']) {
      await bench.reset(false);
      const { calls } = await runStep(bench.folder, bench.args(step));
      const folder = join(bench.home, sha256.slice(0, 2));
      const order = [
        calls.findLastIndex((line) => line.startsWith('pwrite64') && line.includes('uploads/')),
        calls.findIndex((line) => line.startsWith('fsync') && line.includes('uploads/')),
        calls.findIndex((line) => line.startsWith('rename') && line.includes(`${folder}/${sha256}`)),
        calls.findIndex((line) => line.startsWith('fsync') && line.includes(`<${folder}>`)),
      ];
      expect({ step, order }).toEqual({ step, order: [...order].sort((a, b) => a - b) });
      expect(order).not.toContain(-1);
    }
  });
});
