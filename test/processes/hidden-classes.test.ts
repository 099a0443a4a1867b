/**
 * More jobs need no more hidden classes of V8 (docs/decisions/0035-what-v8-compiles.md). An object that copies another and
 * adds a property gets one of its own in Node 20, and each access to such objects is slow.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';

const FEW = 400;
const MORE = 2_000;
/** Of one place in the code, for each further job. One for each job, or for each add of a single job, is half or more. */
const MOST = 0.3;

const program = join(import.meta.dirname, '..', 'fixtures', 'plain-jobs.mjs');

/** Runs jobs in a process of their own, and returns how many hidden classes its threads made at which place. */
function countClasses(address: string, jobs: number): ReadonlyMap<string, number> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-classes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const flags = ['--log-maps', '--no-log-maps-details', `--logfile=${join(folder, 'maps.log')}`];
  execFileSync(process.execPath, [...flags, program, address, String(jobs)], { stdio: 'inherit' });
  const counts = new Map<string, number>();
  for (const name of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
      const [what, , , , , , row, column] = line.split(',');
      const place = `line ${row}, column ${column}`;
      if (what === 'map') counts.set(place, (counts.get(place) ?? 0) + 1);
    }
  }
  return counts;
}

/** Returns the places that make hidden classes for further jobs. */
function placesOfClasses(addressOf: (jobs: number) => string): readonly string[] {
  const few = countClasses(addressOf(FEW), FEW);
  expect(few.size).toBeGreaterThan(100);
  const forEach = ([place, count]: readonly [string, number]) => (count - (few.get(place) ?? 0)) / (MORE - FEW);
  return [...countClasses(addressOf(MORE), MORE)].filter((each) => forEach(each) > MOST).map(([place]) => place);
}

it('more jobs on SQLite need no more hidden classes', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-plain-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(placesOfClasses((jobs) => `sqlite:${join(folder, String(jobs))}`)).toEqual([]);
});

describeWithRedis('hidden classes', () => {
  it('more jobs on Redis need no more of them', { timeout: 60_000 }, async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    expect(placesOfClasses((jobs) => `${redis.url}/${jobs % 3}`)).toEqual([]);
  });
});
