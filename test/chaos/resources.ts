/** Memory and open files of the processes of a run, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { monotonicMs } from '../faults/ledger.ts';
import type { Stage } from './stage.ts';

export interface ResourceSample {
  readonly at: number;
  readonly name: string;
  readonly pid: number;
  readonly rssMb: number;
  readonly files: number;
}

export function sampleResources({ node, workers }: Stage): readonly ResourceSample[] {
  return [node, ...workers].flatMap(({ name, running }) => (running === null ? [] : sampleOf(name, running.pid)));
}

function sampleOf(name: string, pid: number): readonly ResourceSample[] {
  try {
    const kb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
    return [{ at: monotonicMs(), name, pid, rssMb: kb / 1_024, files: readdirSync(`/proc/${pid}/fd`).length }];
  } catch {
    // It ended meanwhile.
    return [];
  }
}
