/** What a machine offers to jobs that need something, when nobody says otherwise: its cores and its memory. */
import { availableParallelism, totalmem } from 'node:os';
import type { Units } from '../core/needs.ts';

const MB = 1024 ** 2;

export function machineUnits(): Units {
  return { cpu: availableParallelism(), memoryMb: Math.floor(totalmem() / MB) };
}
