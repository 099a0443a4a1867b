/**
 * Crash safety at every step: each system call by which blobs change the disk is, in a run of its own, the moment
 * of a kill -9. Whatever was on the disk then: what can be seen is whole, what was said holds, a repeat succeeds,
 * and the sweep leaves nothing lying about.
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

interface Place {
  readonly folder: string;
  readonly home: string;
  readonly args: (step: string) => string[];
  blobs(passedMs?: number): Promise<Blobs>;
  /** As before the step: empty, or with the blob. */
  reset(hasBlob: boolean): Promise<void>;
}

async function aPlace(): Promise<Place> {
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

/** Each of its calls once, as the moment of a fault. */
async function momentsOf(place: Place, step: string, hasBlob: boolean): Promise<{ call: string; when: number }[]> {
  await place.reset(hasBlob);
  const { said, calls } = await runStep(place.folder, place.args(step));
  expect(said).toMatchObject({ type: 'done' });
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
  check: (place: Place, run: StepRun, injection: Injection) => Promise<void>,
): Promise<number> {
  const place = await aPlace();
  const moments = (await momentsOf(place, step, hasBlob)).filter(({ call }) => calls.test(call));
  for (const moment of moments) {
    await place.reset(hasBlob);
    const injection = { ...moment, fault };
    const run = await runStep(place.folder, place.args(step), injection);
    const { findings } = await (await place.blobs()).scrub();
    expect({ injection, findings }).toEqual({ injection, findings: [] });
    await check(place, run, injection);
  }
  return moments.length;
}

/** Doing it again succeeds; afterwards nothing but the blob is left. */
async function endsWell(place: Place): Promise<void> {
  const blobs = await place.blobs();
  const begin = await blobs.begin({ id: 'step' });
  const offset = begin.ok ? begin.upload.offset : 0;
  if (begin.ok && begin.upload.blob === null)
    await blobs.append('step', { offset, source: piecesOf(bytes.subarray(offset)) });
  expect(await blobs.finish('step', { sha256 })).toMatchObject({ ok: true });
  const later = await place.blobs(30 * DAY_MS);
  expect(await later.verify(sha256)).toBe('intact');
  await later.sweep({ referenced: async (hashes) => new Set(hashes) });
  expect(filesBelow(place.home)).toEqual([`${sha256.slice(0, 2)}/${sha256}`]);
}

describe.skipIf(!hasStrace)('a kill at each call', () => {
  it.each(ADDS)('of %s', async (step) => {
    const moments = await eachMoment(step, { hasBlob: false, fault: 'signal=KILL' }, async (place, { said }) => {
      const isThere = (await (await place.blobs()).stat(sha256)) !== null;
      if (said?.type === 'done') expect(isThere).toBe(true);
      await endsWell(place);
    });
    expect(moments).toBeGreaterThan(8);
  });

  it('of an add over a blob that is there already', async () => {
    await eachMoment('addFromStream', { hasBlob: true, fault: 'signal=KILL', calls: /fsync|rename/ }, async (place) => {
      expect(await (await place.blobs()).verify(sha256)).toBe('intact');
      await endsWell(place);
    });
  });

  it('of staging leaves the blob as it was', async () => {
    await eachMoment('stage', { hasBlob: true, fault: 'signal=KILL' }, async (place) => {
      expect(await (await place.blobs()).verify(sha256)).toBe('intact');
    });
  });

  it('of a sweep leaves the blob whole or gone, and the next one finishes', async () => {
    const moments = await eachMoment('sweep', { hasBlob: true, fault: 'signal=KILL' }, async (place, { said }) => {
      if (said !== null) expect(await (await place.blobs()).stat(sha256)).toBeNull();
      await (await place.blobs(DAY_MS)).sweep({ referenced: async () => new Set(), olderThanMs: 0 });
      expect(filesBelow(place.home)).toEqual([]);
    });
    expect(moments).toBeGreaterThan(3);
  });

  it('of a sweep that must put the blob back never loses it', async () => {
    const moments = await eachMoment('sweepInVain', { hasBlob: true, fault: 'signal=KILL' }, async (place) => {
      expect(await (await place.blobs()).verify(sha256)).toBe('intact');
    });
    expect(moments).toBeGreaterThan(4);
  });
});

describe.skipIf(!hasStrace)('a disk that fails', () => {
  it('at any fsync makes the add fail; it is not tried again on the same file', async () => {
    const how = { hasBlob: false, fault: 'error=EIO', calls: /fsync/ };
    const moments = await eachMoment('upload', how, async (place, { said, calls }) => {
      expect(said).toEqual({ type: 'failed', code: 'store-unavailable' });
      const failed = calls.findIndex((line) => line.includes('EIO'));
      expect(calls.slice(failed + 1).filter((line) => line.startsWith('fsync'))).toEqual([]);
      if (calls[failed]?.includes('.part'))
        expect(filesBelow(place.home).filter((path) => path.endsWith('.part'))).toEqual([]);
      await endsWell(place);
    });
    expect(moments).toBeGreaterThan(3);
  });

  it('at any write for want of space makes the add fail as store-full', async () => {
    const how = { hasBlob: false, fault: 'error=ENOSPC', calls: /pwrite/ };
    const moments = await eachMoment('upload', how, async (place, { said }) => {
      expect(said).toEqual({ type: 'failed', code: 'store-full' });
      expect(await (await place.blobs()).stat(sha256)).toBeNull();
      await endsWell(place);
    });
    expect(moments).toBeGreaterThan(2);
  });

  it('in the midst of a large upload makes it fail as well, and what may be lost is given up', async () => {
    const place = await aPlace();
    await place.reset(false);
    await writeFile(join(place.folder, 'content'), bytesOf(40_000_000));
    const injection = { call: 'fdatasync', when: 1, fault: 'error=EIO' };
    const { said } = await runStep(place.folder, place.args('upload'), injection);
    expect(said).toEqual({ type: 'failed', code: 'store-unavailable' });
    expect(filesBelow(place.home)).toEqual([]);
  });
});

describe.skipIf(!hasStrace)('the order of an add', () => {
  it('is: content on the disk, then the name, then the name on the disk', async () => {
    const place = await aPlace();
    for (const step of ['addFromStream', 'addFromPath', 'upload']) {
      await place.reset(false);
      const { calls } = await runStep(place.folder, place.args(step));
      const shelf = join(place.home, sha256.slice(0, 2));
      const order = [
        calls.findLastIndex((line) => line.startsWith('pwrite64') && line.includes('uploads/')),
        calls.findIndex((line) => line.startsWith('fsync') && line.includes('uploads/')),
        calls.findIndex((line) => line.startsWith('rename') && line.includes(`${shelf}/${sha256}`)),
        calls.findIndex((line) => line.startsWith('fsync') && line.includes(`<${shelf}>`)),
      ];
      expect({ step, order }).toEqual({ step, order: [...order].sort((a, b) => a - b) });
      expect(order).not.toContain(-1);
    }
  });
});
