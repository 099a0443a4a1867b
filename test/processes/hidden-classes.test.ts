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
/** For each further job. Half a one is made where each add or each settlement has one; some are made once. */
const MOST = 0.3;

const program = join(import.meta.dirname, '..', 'fixtures', 'plain-jobs.mjs');

/** Runs jobs in a process of their own, and returns how many hidden classes all of its threads made. */
function countClasses(address: string, jobs: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-classes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const flags = ['--log-maps', '--no-log-maps-details', `--logfile=${join(folder, 'maps.log')}`];
  execFileSync(process.execPath, [...flags, program, address, String(jobs)], { stdio: 'inherit' });
  const logs = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return logs.join('\n').match(/^map,/gm)?.length ?? 0;
}

function classesOfFurtherJobs(addressOf: (jobs: number) => string): number {
  const few = countClasses(addressOf(FEW), FEW);
  expect(few).toBeGreaterThan(1_000);
  return (countClasses(addressOf(MORE), MORE) - few) / (MORE - FEW);
}

it('more jobs on SQLite need no more hidden classes', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-plain-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(classesOfFurtherJobs((jobs) => `sqlite:${join(folder, String(jobs))}`)).toBeLessThan(MOST);
});

describeWithRedis('hidden classes', () => {
  it('more jobs on Redis need no more of them', { timeout: 60_000 }, async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    expect(classesOfFurtherJobs((jobs) => `${redis.url}/${jobs % 3}`)).toBeLessThan(MOST);
  });
});
