/** Faults of the machine: errors of reads, writes and syncs, a full disk, and steps of the clock. */
import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failing } from '../../support/open-dead-disk.ts';
import { type FaultKind, withMember } from './fault-kind.ts';

const diskErrors = (name: string, calls: Failing): FaultKind => ({
  name,
  effect: 'disk',
  needs: ['compiler'],
  inject: (context) =>
    withMember([...context.stage.workers, context.stage.node], context, async (member, { pid }) => {
      const { preloads } = context.stage;
      if (preloads === null) return null;
      const [every, ms] = [context.random.between(1, 12), context.random.between(100, 1_000)];
      preloads.disk(member.name).fail(calls, every);
      await sleep(ms);
      preloads.disk(member.name).heal();
      return { pid, detail: `${member.name}: every call of ${every} for ${ms} ms` };
    }),
});

export const readErrors = diskErrors('read-errors', 'r');
export const writeErrors = diskErrors('write-errors', 'w');
export const syncErrors = diskErrors('sync-errors', 's');

/** `takes`: a file in the home directory whose space is taken too. */
const diskFilled = (name: string, needs: FaultKind['needs'], takes?: string): FaultKind => ({
  name,
  effect: 'disk',
  needs: ['small disk', ...needs],
  inject: async ({ stage, random }) => {
    if (stage.isDiskTaken) return null;
    stage.isDiskTaken = true;
    const fillers = ['filler', 'filler-2'].map((file) => join(stage.disk, file));
    const [left, ms] = [random.between(32, 256) * 1_024, random.between(300, 2_000)];
    try {
      fill(stage.disk, fillers[0] as string, left);
      // The disk is full already: its owner cannot write it again in between.
      if (takes !== undefined) rmSync(join(stage.home, takes), { force: true });
      if (takes !== undefined) fill(stage.disk, fillers[1] as string, left);
      await sleep(ms);
    } finally {
      for (const filler of fillers) rmSync(filler, { force: true });
      stage.isDiskTaken = false;
    }
    return { detail: `${left} bytes left for ${ms} ms` };
  },
});

/** Leaves less space than a job needs; the store has a ballast for the settlements of running jobs. */
export const fullDisk = diskFilled('full-disk', []);

/** No settlement fits either, until the disk has space again. */
export const fullDiskWithoutBallast = diskFilled('full-disk-without-ballast', ['sqlite'], 'ballast');

/** Reserves all space of a disk but `left` bytes, without writing it. */
function fill(disk: string, path: string, left: number): void {
  const { bavail, bsize } = statfsSync(disk);
  execFileSync('fallocate', ['-l', String(Math.max(1, bavail * bsize - left)), path], { stdio: 'ignore' });
}

const HOUR_MS = 3_600_000;
const STEPS: readonly number[] = [-HOUR_MS, -5_000, 5_000, HOUR_MS];

/** One process has a wrong clock for a while. */
export const stepOneClock: FaultKind = {
  name: 'step-one-clock',
  effect: 'clock',
  needs: ['compiler'],
  inject: (context) =>
    withMember([...context.stage.workers, context.stage.node], context, async (member, { pid }) => {
      const { preloads } = context.stage;
      if (preloads === null) return null;
      const [step, ms] = [context.random.pick(STEPS), context.random.between(300, 2_000)];
      preloads.setClock(member.name, step);
      await sleep(ms);
      preloads.setClock(member.name, 0);
      return { pid, detail: `${member.name} by ${step / 1_000} s for ${ms} ms` };
    }),
};

/** All processes step together, as when the clock of the machine is set. */
export const stepAllClocks: FaultKind = {
  name: 'step-all-clocks',
  effect: 'clock',
  needs: ['compiler'],
  inject: async ({ stage, random }) => {
    const { preloads } = stage;
    if (preloads === null) return null;
    const [step, ms] = [random.pick(STEPS), random.between(300, 2_000)];
    for (const name of stage.clockNames()) preloads.setClock(name, step);
    await sleep(ms);
    for (const name of stage.clockNames()) preloads.setClock(name, 0);
    return { detail: `by ${step / 1_000} s for ${ms} ms` };
  },
};
