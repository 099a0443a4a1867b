/** Faults of processes: kill -9, a freeze longer than the lease, and a blocked event loop. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Member } from '../member.ts';
import { LEASE_MS } from '../workload.ts';
import { type FaultContext, type FaultKind, type Injected, withMember } from './fault-kind.ts';

const kill = (name: string, membersOf: (context: FaultContext) => readonly Member[]): FaultKind => ({
  name,
  effect: 'kill',
  needs: [],
  inject: (context) =>
    withMember(membersOf(context), context, async (member) => {
      const pid = await member.kill9();
      await sleep(context.random.between(0, LEASE_MS));
      await member.start();
      return { pid, detail: member.name };
    }),
});

export const killWorker = kill('kill-worker', ({ stage }) => stage.workers);
export const killNode = kill('kill-node', ({ stage }) => [stage.node]);
export const killProducer = kill('kill-producer', ({ stage }) => stage.producers);

const freeze = (name: string, membersOf: (context: FaultContext) => readonly Member[]): FaultKind => ({
  name,
  effect: 'freeze',
  needs: [],
  inject: (context) =>
    withMember(membersOf(context), context, async (member, running): Promise<Injected> => {
      const ms = context.random.between(LEASE_MS / 2, LEASE_MS * 2);
      running.stop();
      try {
        await sleep(ms);
      } finally {
        running.cont();
      }
      return { pid: running.pid, detail: `${member.name} for ${ms} ms` };
    }),
});

export const freezeWorker = freeze('freeze-worker', ({ stage }) => stage.workers);
export const freezeNode = freeze('freeze-node', ({ stage }) => [stage.node]);

/** The lease renewer is a thread: no lease may be lost. */
export const blockLoop: FaultKind = {
  name: 'block-loop',
  effect: 'network',
  needs: [],
  inject: (context) =>
    withMember(context.stage.workers, context, async (member, running) => {
      const ms = context.random.between(LEASE_MS, LEASE_MS * 2);
      // Read before the wait: the node may be another process afterwards.
      const nodePid = context.stage.nodeOf(member)?.pid;
      running.send({ block: ms });
      await sleep(ms);
      return {
        pid: running.pid,
        ...(nodePid === undefined ? {} : { nodePid }),
        detail: `${member.name} for ${ms} ms`,
      };
    }),
};
