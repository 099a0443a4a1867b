/**
 * Many jobs over many keys with a limit of one per key, and workers killed at random. By the store's history, two jobs of a
 * key never run at once, every key makes progress, and no slot leaks. The same run over each durable store.
 */
import { expect } from 'vitest';
import type { HistoryRow } from '../../src/core/job/history.ts';
import { isFullSize, testSize } from '../support/test-size.ts';
import { type FaultEnvironment, type Findings, figuresOf, printFigures, printSeed } from './fault-environment.ts';
import { Nemesis } from './nemesis.ts';
import { openRandom } from './seeded-random.ts';

const JOBS = testSize({ small: 400, full: 10_000 });
const KEYS = testSize({ small: 20, full: 200 });
const WORKERS = testSize({ small: 4, full: 50 });
const FAULTS_MS = testSize({ small: 4_000, full: 60_000 });
/** Fifty processes on few cores and one file are slower with their heartbeats than four. */
const LEASE_MS = testSize({ small: 1_000, full: 2_000 });
const DRAIN_MS = isFullSize ? 600_000 : 70_000;
const ADDED_AT_ONCE = 200;
export const KEYED_JOBS_MS = FAULTS_MS + DRAIN_MS + 60_000;

export const KEYED_SETTINGS = {
  lease: LEASE_MS,
  heartbeat: LEASE_MS / 4,
  keys: { by: 'tenant', limit: 1 },
} as const;

export async function runKeyedJobs(environment: FaultEnvironment, store: string): Promise<void> {
  const random = openRandom();
  printSeed(`keyed jobs, ${store}`, random);
  const nemesis = new Nemesis({ environment, random, plan: { work: { concurrency: 8 } }, freezeMs: LEASE_MS * 1.5 });
  const tenantOf = (place: number) => `tenant-${place % KEYS}`;
  for (let from = 0; from < JOBS; from += ADDED_AT_ONCE) {
    const places = Array.from({ length: Math.min(ADDED_AT_ONCE, JOBS - from) }, (_, n) => from + n);
    await Promise.all(
      places.map((place) =>
        environment.add(`j${place}`, { tenant: tenantOf(place), ms: Math.round(random.between(100, 250)) }),
      ),
    );
  }
  await nemesis.startWorkers(WORKERS);
  await nemesis.run(FAULTS_MS);
  await environment.drained(DRAIN_MS);
  await nemesis.settled();
  await environment.closeProcesses();

  const findings = await environment.findings();
  const { overlaps, ended } = byKey(findings);
  printFigures(`keyed jobs, ${store}`, {
    seed: random.seed,
    ...figuresOf(findings.verdict),
    kills: nemesis.killedAt.size,
    keys: ended.size,
    overlaps: overlaps.length,
  });
  expect(findings.verdict).toMatchObject({ problems: [], jobs: JOBS, done: JOBS, left: 0 });
  expect(overlaps).toEqual([]);
  expect([...ended.values()].map((count) => count)).toEqual(Array.from({ length: KEYS }, () => JOBS / KEYS));
  expect(await environment.longhaul.throttles()).toEqual([]);
  // Without kills and reruns the test proves nothing.
  expect(Math.min(nemesis.killedAt.size, findings.verdict.reruns)).toBeGreaterThan(0);
}

interface SlotUse {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** When each key's jobs held its slot, by the store's clock: from each claim to the end of its attempt. */
function byKey({ histories }: Findings): { overlaps: readonly string[]; ended: ReadonlyMap<string, number> } {
  const uses = new Map<string, SlotUse[]>();
  const ended = new Map<string, number>();
  for (const { job, rows } of histories) {
    const { tenant } = JSON.parse(job.data) as { tenant: string };
    uses.set(tenant, [...(uses.get(tenant) ?? []), ...usesOf(job.id, rows)]);
    ended.set(tenant, (ended.get(tenant) ?? 0) + (job.state === 'done' ? 1 : 0));
  }
  return { overlaps: [...uses].flatMap(([tenant, all]) => overlapsOf(tenant, all)), ended };
}

function usesOf(id: string, rows: readonly HistoryRow[]): readonly SlotUse[] {
  return rows.flatMap((row, place) => {
    if (row.event !== 'claimed') return [];
    const end = rows.slice(place + 1).find(({ token, event }) => token === row.token && event !== 'late');
    return [{ id, from: row.at, to: end?.at ?? Number.POSITIVE_INFINITY }];
  });
}

function overlapsOf(tenant: string, uses: readonly SlotUse[]): readonly string[] {
  const sorted = [...uses].sort((a, b) => a.from - b.from || a.to - b.to);
  return sorted.flatMap((use, place) => {
    const before = sorted[place - 1];
    return before !== undefined && before.to > use.from ? [`${tenant}: ${before.id} and ${use.id}`] : [];
  });
}
