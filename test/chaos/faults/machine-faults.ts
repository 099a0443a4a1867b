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

/** Leaves less space than a job needs; the store has a ballast for the settlements of running jobs. */
export const fullDisk: FaultKind = {
  name: 'full-disk',
  effect: 'disk',
  needs: ['small disk'],
  inject: async ({ stage, random }) => {
    if (stage.isDiskTaken) return null;
    stage.isDiskTaken = true;
    const filler = join(stage.disk, 'filler');
    const [left, ms] = [random.between(32, 256) * 1_024, random.between(300, 2_000)];
    try {
      const { bavail, bsize } = statfsSync(stage.disk);
      fill(filler, Math.max(1, bavail * bsize - left));
      await sleep(ms);
    } finally {
      rmSync(filler, { force: true });
      stage.isDiskTaken = false;
    }
    return { detail: `${left} bytes left for ${ms} ms` };
  },
};

/** Reserves the space without writing it. */
function fill(path: string, bytes: number): void {
  execFileSync('fallocate', ['-l', String(bytes), path], { stdio: 'ignore' });
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
