/** What a machine offers to jobs that need something: its cores and its memory, and what its settings add or set. */
import { availableParallelism, totalmem } from 'node:os';
import { readResources } from '../../core/limits/resources.ts';
import { CapacityPool } from '../../worker/loop/capacity-pool.ts';

const MB = 1024 ** 2;

/** One pool for all queues of a node, and what its workers show of it. */
export function machineOffer(offers: string): { readonly pool: CapacityPool; readonly info: string } {
  const machine = { cpu: availableParallelism(), memoryMb: Math.floor(totalmem() / MB) };
  const pool = new CapacityPool({ ...machine, ...readResources(offers) });
  return { pool, info: JSON.stringify({ offers: pool.whole }) };
}
