/**
 * Workers killed with -9, stopped for longer than their lease, or stopped just before they settle, at random and under
 * load: the same run over each durable store.
 */
import { expect } from 'vitest';
import { isFullProof, proofSize } from '../support/proof.ts';
import { type Arena, printFigures } from './arena.ts';
import { Nemesis } from './nemesis.ts';
import { recoveryOf } from './recovery.ts';
import { openRandom } from './seeded-random.ts';
import { longestOverlapMs } from './witness.ts';

export const LEASE_MS = 1_000;
export const RAGE_MS = proofSize({ small: 20_000, full: 120_000 });
/** Jobs that were killed again and again wait longer each time, by rule. */
const DRAIN_MS = isFullProof ? 240_000 : 70_000;
export const KILLED_WORKERS_MS = RAGE_MS + DRAIN_MS + 60_000;
const RECOVERY_MS = LEASE_MS + 2_000;
const GRACE_MS = 100;

export async function surviveKills(arena: Arena, store: string): Promise<void> {
  const random = openRandom();
  printFigures(`killed workers, ${store}`, { seed: random.seed });
  const nemesis = new Nemesis({ arena, random, plan: { work: { concurrency: 8 } }, freezeMs: LEASE_MS * 1.5 });
  const [adder] = await Promise.all([startAdder(arena), nemesis.hire(3)]);
  adder.send({});
  await nemesis.rage(RAGE_MS);
  adder.send({});
  await adder.next(({ type }) => type === 'added', 30_000);
  await arena.drained(DRAIN_MS);
  await nemesis.settled();
  await arena.closeProcesses();

  const findings = await arena.findings();
  const { verdict, marks, runs } = findings;
  const { ms, lostAlive } = recoveryOf(findings, nemesis);
  const refused = marks.filter(({ mark, answer }) => mark === 'answered' && answer === 'lease-lost').length;
  const overlapMs = longestOverlapMs(runs, nemesis);
  printFigures(`killed workers, ${store}`, {
    ...{ seed: random.seed, jobs: verdict.jobs, done: verdict.done, left: verdict.left, runs: runs.length },
    ...{ kills: nemesis.killedAt.size, freezes: nemesis.freezes, stops: nemesis.stops },
    ...{ reruns: verdict.reruns, takeovers: verdict.takeovers, fencedLate: verdict.fencedLate, refused, lostAlive },
    ...{ overlapMs, recoveries: ms.length, recoveryP50Ms: ms[ms.length >> 1] ?? 0, recoveryP100Ms: ms.at(-1) ?? 0 },
    problems: verdict.problems.length,
  });
  expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
  expect(Math.max(...ms)).toBeLessThanOrEqual(RECOVERY_MS);
  expect(overlapMs).toBeLessThanOrEqual(GRACE_MS);
  // Without these the run has proved nothing, whatever it found.
  expect(Math.min(verdict.reruns, verdict.takeovers, verdict.fencedLate, refused, ms.length)).toBeGreaterThan(0);
}

function startAdder(arena: Arena) {
  const load = { everyMs: 40, atOnce: 20, maxMs: 400, freezeEvery: 60 };
  return arena.startAdder({ kind: 'steady', prefix: 'k', isPersistent: true, ...load });
}

/** A worker that stands still from just before it settles until somebody else has done its job. */
export async function fenceTheFrozen(arena: Arena, store: string): Promise<void> {
  const id = 'frozen';
  const frozen = await arena.startWorker();
  await arena.add(id, { freeze: true });
  await frozen.next(({ type }) => type === 'frozen');
  const other = await arena.startWorker({ isTelling: true });
  await other.next((message) => message['type'] === 'start' && message['id'] === id, RECOVERY_MS + 2_000);
  const result = await arena.longhaul.finished<number>(id, { signal: AbortSignal.timeout(5_000) });
  frozen.cont();
  await arena.closeProcesses();

  const { verdict, marks, stories } = await arena.findings();
  const answers = marks.filter(({ mark, id: of }) => mark === 'answered' && of === id);
  const job = stories.find((story) => story.job.id === id);
  expect(verdict).toMatchObject({ problems: [], left: 0, done: 1, fencedLate: 1, takeovers: 1 });
  expect(answers.map(({ pid, answer }) => [pid, answer]).sort()).toEqual(
    [
      [frozen.pid, 'lease-lost'],
      [other.pid, 'ok'],
    ].sort(),
  );
  expect(job?.job).toMatchObject({ state: 'done', attempt: 2, crashes: 1, failures: 0, result: String(result) });
  printFigures(`frozen before it settles, ${store}`, {
    refused: 'lease-lost',
    lateRows: verdict.fencedLate,
    accepted: 1,
  });
}
