/** Changes of the configuration in flight: pause, limits, rates, moved jobs, a deleted queue, a revoked token. */
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../faults/ledger.ts';
import type { Stage } from '../stage.ts';
import { QUEUES, SCRIPT_QUEUE, SETTINGS } from '../workload.ts';
import type { FaultKind } from './fault-kind.ts';

export const pauseQueue: FaultKind = {
  name: 'pause-queue',
  effect: 'configuration',
  needs: [],
  inject: async ({ stage, random }) => {
    const queue = random.pick(['plain', 'steps', 'limited', SCRIPT_QUEUE]);
    const ms = random.between(300, 2_000);
    await stage.untilDone(`pause ${queue}`, () => stage.longhaul.queue(queue).pause('chaos'));
    await sleep(ms);
    await stage.untilDone(`resume ${queue}`, () => stage.longhaul.queue(queue).resume());
    return { detail: `${queue} for ${ms} ms` };
  },
};

const MOVED_JOBS = 20;

/** Moves waiting jobs to another queue. It is paused first, so that jobs wait; those that run are refused. */
export const moveJobs: FaultKind = {
  name: 'move-jobs',
  effect: 'configuration',
  needs: [],
  inject: async ({ stage, random }) => {
    const [from, to] = random.pick([
      ['plain', 'steps'],
      ['steps', 'plain'],
    ] as const);
    const ms = random.between(200, 800);
    await stage.untilDone(`pause ${from}`, () => stage.longhaul.queue(from).pause('chaos'));
    await sleep(ms);
    const { jobs } = await stage.untilDone('list jobs', () =>
      stage.longhaul.store.jobs.list({ queue: from, state: 'waiting', order: 'newest', limit: MOVED_JOBS }),
    );
    const moves = jobs.map(({ id }) => ({ id, queue: to }));
    await stage.untilDone('move jobs', () => stage.longhaul.store.jobs.move(moves));
    await stage.untilDone(`resume ${from}`, () => stage.longhaul.queue(from).resume());
    return { detail: `${moves.length} jobs of ${from} to ${to}` };
  },
};

export const changeLimit: FaultKind = {
  name: 'change-limit',
  effect: 'configuration',
  needs: [],
  inject: async ({ stage, random }) => {
    const maxRunning = random.between(1, 6);
    await stage.setLimit('limited', maxRunning);
    return { detail: `limited to ${maxRunning}` };
  },
};

export const changeRate: FaultKind = {
  name: 'change-rate',
  effect: 'configuration',
  needs: [],
  inject: async ({ stage, random }) => {
    const rate = `${random.pick([10, 50, 200])}/1s` as const;
    await stage.untilDone('change the rate', () => stage.longhaul.queue('rated').configure({ rate }));
    return { detail: `rated to ${rate}` };
  },
};

const DELETE_MS = 5_000;

/** Refused while a job runs: paused first, and given up after a while. */
export const deleteQueue: FaultKind = {
  name: 'delete-queue',
  effect: 'configuration',
  needs: [],
  inject: async ({ stage, random }) => {
    // Asked for each time: a power cut opens a new connection.
    const queue = () => stage.longhaul.queue('doomed');
    await stage.untilDone('pause doomed', () => queue().pause());
    let jobs = -1;
    for (const endAt = monotonicMs() + DELETE_MS; jobs < 0 && monotonicMs() < endAt; await sleep(100))
      jobs = await queue()
        .delete({ jobs: true })
        .then(
          (deleted) => deleted.jobs,
          () => -1,
        );
    // Recorded even if no deletion was confirmed: one of them may have been made.
    stage.ledger('queue-deleted', { queue: 'doomed' });
    await sleep(random.between(0, 500));
    await stage.untilDone('create doomed', () => queue().configure({ ...SETTINGS, ...QUEUES['doomed'], state: 'up' }));
    return { detail: `doomed with ${jobs} jobs` };
  },
};

/** A repeat after a lost answer finds no such token. */
async function revoke(stage: Stage, id: string): Promise<void> {
  try {
    await stage.cli('token', 'revoke', id);
  } catch (error) {
    if ((await stage.cli('token', '--json')).includes(id)) throw error;
  }
}

export const revokeToken: FaultKind = {
  name: 'revoke-token',
  effect: 'configuration',
  needs: [],
  inject: async ({ stage, random }) => {
    if (stage.isTokenTaken) return null;
    stage.isTokenTaken = true;
    try {
      const { id } = stage.producerToken;
      await stage.untilDone('revoke a token', () => revoke(stage, id));
      await sleep(random.between(0, 1_000));
      await stage.untilDone('create a token', () => stage.renewProducerToken());
      return { detail: id };
    } finally {
      stage.isTokenTaken = false;
    }
  },
};
