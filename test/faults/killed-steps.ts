/**
 * Workers are killed with -9 around the boundaries of steps, while jobs of five steps run and wait for an event between
 * them. No step runs again once the store or the worker has seen it kept, and every job ends. The same over each store.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ConnectOptions, Longhaul } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder, printFigures, printSeed } from './fault-environment.ts';
import { monotonicMs } from './ledger.ts';
import { openRandom } from './seeded-random.ts';

const JOBS = testSize({ small: 60, full: 500 });
const KILLS_MS = testSize({ small: 1_500, full: 180_000 });
/** The longest run of a step, so long that there are steps to interrupt until the last kill. */
const STEP_MS = testSize({ small: 20, full: 150 });
const DRAIN_MS = testSize({ small: 60_000, full: 180_000 });
export const KILLED_STEPS_MS = KILLS_MS + DRAIN_MS + 60_000;

/** The lines of a ledger, and the steps that were done in the store when the first so many lines were written. */
interface Seen {
  readonly lines: number;
  readonly done: readonly string[];
}

/** Waits until a step begins, at most two seconds: the last jobs may be done. */
async function nextRun(ledger: string): Promise<void> {
  const before = linesOf(ledger).length;
  for (const endAt = monotonicMs() + 2_000; monotonicMs() < endAt; await sleep(1))
    if (
      linesOf(ledger)
        .slice(before)
        .some((line) => line.startsWith('run '))
    )
      return;
}

export async function surviveKilledSteps(address: string, options: ConnectOptions, store: string): Promise<void> {
  const random = openRandom();
  printSeed(`killed steps, ${store}`, random);
  const ledger = join(aFolder(), 'ledger');
  writeFileSync(ledger, '');
  const longhaul = await connect(address, options);
  const queue = longhaul.queue<null, number[]>('steps');
  await queue.configure({ lease: 1_000, heartbeat: 250, lostCountsAs: 'failure', retries: 100_000, backoff: 0 });
  const jobs = await queue.addAll(Array<null>(JOBS).fill(null));
  // Half of the events come before the wait.
  for (const { id } of jobs.slice(JOBS / 2)) await longhaul.notify(id, 'go');
  const plan = JSON.stringify({ address, connect: options, ledger, stepMs: STEP_MS });
  const seen: Seen[] = [];
  let kills = 0;
  for (const endAt = monotonicMs() + KILLS_MS; monotonicMs() < endAt; kills += 1) {
    const worker = await startFixture('steps-worker.mjs', [plan]);
    await worker.next(({ type }) => type === 'ready');
    await sleep(random.between(20, 400));
    // Every second kill hits a step for certain; the others come at any time.
    if (kills % 2 === 0) await nextRun(ledger);
    await worker.kill9();
    seen.push(await doneSteps(longhaul, ledger));
  }
  for (const { id } of jobs) await longhaul.notify(id, 'go');
  const last = await startFixture('steps-worker.mjs', [plan]);
  const results = await Promise.race([
    Promise.all(jobs.map((job) => job.finished())),
    sleep(DRAIN_MS, null, { ref: false }),
  ]);
  await last.kill9();
  await longhaul.close();
  const lines = linesOf(ledger);
  const [runs, again] = [lines.filter((line) => line.startsWith('run ')).length, ranAgain(lines, seen)];
  printFigures(`killed steps, ${store}`, { seed: random.seed, jobs: JOBS, kills, runs, again: again.length });
  expect(again).toEqual([]);
  expect(results).toEqual(jobs.map(() => [1, 2, 3, 4, 5]));
  // Without a step that a kill interrupted the test proves nothing.
  expect(runs).toBeGreaterThan(5 * JOBS);
}

const linesOf = (ledger: string): readonly string[] => readFileSync(ledger, 'utf8').split('\n').slice(0, -1);

/** Returns the steps of the latest jobs that are done in the store. */
async function doneSteps(longhaul: Longhaul, ledger: string): Promise<Seen> {
  const lines = linesOf(ledger);
  const ids = [...new Set(lines.slice(-100).map((line) => line.split(' ')[1] ?? ''))];
  const steps = await Promise.all(ids.map(async (id) => ({ id, steps: await longhaul.steps(id) })));
  const done = steps.flatMap((each) =>
    each.steps.filter(({ status }) => status === 'done').map(({ name }) => `${each.id} ${name}`),
  );
  return { lines: lines.length, done };
}

/** Returns the steps that ran again after they were seen kept. */
function ranAgain(lines: readonly string[], seen: readonly Seen[]): readonly string[] {
  const kept = new Set<string>();
  const again: string[] = [];
  for (const [at, line] of lines.entries()) {
    for (const { lines: count, done } of seen) if (count === at) for (const step of done) kept.add(step);
    const [what = '', ...step] = line.split(' ');
    if (what === 'kept') kept.add(step.join(' '));
    else if (kept.has(step.join(' '))) again.push(step.join(' '));
  }
  return again;
}
