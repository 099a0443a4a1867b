/** Many nodes start at once over the lock of one that died: one of them gets it, and the others are told. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, vi } from 'vitest';
import { nodeOn, takeNodeLock } from '../../src/node/node-lock.ts';
import { type GuardedProcess, spawnGuarded } from '../support/guarded-process.ts';

vi.setConfig({ testTimeout: 60_000 });

const PROCESSES = 20;
const LOCKS = 200;
const DEAD = JSON.stringify({ pid: 2 ** 22 + 1, start: 1, boot: 'another' });
const RACER = join(import.meta.dirname, '../fixtures/lock-racer.mjs');

it(`Of ${PROCESSES} processes that start at once over a dead lock, one takes it`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-locks-'));
  const numbers = Array.from({ length: LOCKS }, (_, number) => number);
  await Promise.all(numbers.map((number) => leaveDead(join(folder, `lock-${number}`), number % 3)));
  const line = [RACER, folder, String(LOCKS)];
  const racers = await Promise.all(
    Array.from({ length: PROCESSES }, () => spawnGuarded(process.execPath, line, { folder })),
  );
  try {
    const lines = racers.map(linesOf);
    await Promise.all(lines.map((next) => next()));
    for (const racer of racers) racer.stdin.write('go\n');
    const taken = (await Promise.all(lines.map((next) => next()))).flatMap(({ locks }) => locks);
    expect(taken.sort((a, b) => a - b)).toEqual(numbers);
    for (const number of numbers)
      expect(racers.map(({ pid }) => pid)).toContain(nodeOn(join(folder, `lock-${number}`)));
    // Nothing is left of what one who died with a claim had left.
    expect((await readdir(folder)).filter((name) => !/^lock-\d+$/.test(name))).toEqual([]);
  } finally {
    for (const racer of racers) racer.signal('SIGKILL');
    await Promise.all(racers.map(({ ended }) => ended));
    await rm(folder, { recursive: true, force: true });
  }
});

it('A lock that is released is free, and one that is held is refused with the pid of its holder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-locks-'));
  try {
    const path = join(folder, 'lock');
    const lock = takeNodeLock(path);
    expect(nodeOn(path)).toBe(process.pid);
    expect(() => takeNodeLock(path)).toThrow(`another node (pid ${process.pid}) uses this data directory`);
    lock.release();
    expect(await readdir(folder)).toEqual([]);
    expect(nodeOn(path)).toBeNull();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Of one that died; of a power cut, which left nothing in it; of one that died while it took over from a dead one. */
async function leaveDead(path: string, kind: number): Promise<void> {
  await writeFile(path, kind === 1 ? '' : DEAD);
  if (kind !== 2) return;
  const name = createHash('sha256').update(`${path}\n${DEAD}`).digest('hex').slice(0, 16);
  await writeFile(`${path}.after-${name}`, DEAD);
}

interface Said {
  readonly locks: readonly number[];
}

function linesOf({ stdout }: GuardedProcess): () => Promise<Said> {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return async () => JSON.parse(String((await lines.next()).value)) as Said;
}
