/**
 * Samples the resource usage of all running attempts, with one walk over /proc for all of them.
 *
 * The walk also refreshes which processes belong to each attempt. A process that was seen once as a descendant is still
 * found after it leaves its session and loses its parents.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type Member, membersOfEach, type TrackedAttempt } from '../process-tree/membership.ts';
import { readProc, type Units } from '../process-tree/process-stat.ts';
import { takeSurvey } from '../process-tree/process-survey.ts';
import { NO_USAGE, type Sample, type Usage } from './usage.ts';

export const SAMPLE_EVERY_MS = 2_000;

/** Returns a sample for each attempt that has at least one process. */
export async function sampleAll<T extends TrackedAttempt>(
  attempts: readonly T[],
  units: Units,
): Promise<Map<T, Sample>> {
  const { all } = await takeSurvey();
  const at = Date.now();
  const samples = new Map<T, Sample>();
  for (const [attempt, members] of membersOfEach(all, attempts)) {
    if (members.length > 0) samples.set(attempt, { at, ...measure(members, units) });
  }
  return samples;
}

function measure(members: readonly Member[], { pageBytes, ticksPerSecond }: Units): Omit<Sample, 'at'> {
  const bytes = members.map(({ pid }) => parseIo(readProc(`/proc/${pid}/io`) ?? ''));
  return {
    cpuSeconds: sum(members.map(({ cpuTicks }) => cpuTicks)) / ticksPerSecond,
    rssBytes: sum(members.map(({ rssPages }) => rssPages)) * pageBytes,
    readBytes: sum(bytes.map(({ read }) => read)),
    writtenBytes: sum(bytes.map(({ written }) => written)),
    processes: members.length,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

export function parseIo(text: string): { read: number; written: number } {
  const field = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return { read: field('rchar'), written: field('wchar') };
}

/**
 * Returns how many processes the kernel has killed since boot because memory ran out; null when it does not report
 * that.
 */
export function readOomKills(): number | null {
  try {
    const count = /^oom_kill (\d+)/m.exec(readFileSync('/proc/vmstat', 'latin1'))?.[1];
    return count === undefined ? null : Number(count);
  } catch {
    return null;
  }
}

export function saveUsage(path: string, usage: Usage): void {
  writeFileSync(`${path}.new`, JSON.stringify(usage), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Returns the usage that an earlier node saved; empty when no file exists or a crash left an incomplete one. */
export function loadUsage(path: string): Usage {
  try {
    return { ...NO_USAGE, ...(JSON.parse(readFileSync(path, 'utf8')) as Usage) };
  } catch {
    return NO_USAGE;
  }
}
