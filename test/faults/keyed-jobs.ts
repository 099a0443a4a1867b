/**
 * Many jobs over many keys with a limit of one a key, and workers killed at random: never two of a key at once by the
 * store's own history, every key gets on, and no slot is left over. The same run over each durable store.
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
const RAGE_MS = testSize({ small: 4_000, full: 60_000 });
/** Fifty processes on few cores and one file do not come to their heartbeats as fast as four. */
const LEASE_MS = testSize({ small: 1_000, full: 2_000 });
const DRAIN_MS = isFullSize ? 600_000 : 70_000;
const ADDED_AT_ONCE = 200;
export const KEYED_JOBS_MS = RAGE_MS + DRAIN_MS + 60_000;

export const KEYED_SETTINGS = {
  lease: LEASE_MS,
  heartbeat: LEASE_MS / 4,
  keys: { by: 'tenant', limit: 1 },
} as const;

export async function keepKeysApart(environment: FaultEnvironment, store: string): Promise<void> {
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
  await nemesis.hire(WORKERS);
  await nemesis.rage(RAGE_MS);
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
  // Without these the run has proved nothing, whatever it found.
  expect(Math.min(nemesis.killedAt.size, findings.verdict.reruns)).toBeGreaterThan(0);
}

interface Stay {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** When each key's jobs held its slot, by the store's clock: from each claim to whatever ended it. */
function byKey({ stories }: Findings): { overlaps: readonly string[]; ended: ReadonlyMap<string, number> } {
  const stays = new Map<string, Stay[]>();
  const ended = new Map<string, number>();
  for (const { job, rows } of stories) {
    const { tenant } = JSON.parse(job.data) as { tenant: string };
    stays.set(tenant, [...(stays.get(tenant) ?? []), ...staysOf(job.id, rows)]);
    ended.set(tenant, (ended.get(tenant) ?? 0) + (job.state === 'done' ? 1 : 0));
  }
  return { overlaps: [...stays].flatMap(([tenant, all]) => overlapsOf(tenant, all)), ended };
}

function staysOf(id: string, rows: readonly HistoryRow[]): readonly Stay[] {
  return rows.flatMap((row, place) => {
    if (row.event !== 'claimed') return [];
    const end = rows.slice(place + 1).find(({ token, event }) => token === row.token && event !== 'late');
    return [{ id, from: row.at, to: end?.at ?? Number.POSITIVE_INFINITY }];
  });
}

function overlapsOf(tenant: string, stays: readonly Stay[]): readonly string[] {
  const sorted = [...stays].sort((a, b) => a.from - b.from || a.to - b.to);
  return sorted.flatMap((stay, place) => {
    const before = sorted[place - 1];
    return before !== undefined && before.to > stay.from ? [`${tenant}: ${before.id} and ${stay.id}`] : [];
  });
}
