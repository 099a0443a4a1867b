/**
 * The capacity of a machine for jobs that need resources: its cores and memory, and what the settings add or override.
 */
import { availableParallelism, totalmem } from 'node:os';
import { readResources } from '../../core/limits/resources.ts';
import { CapacityPool } from '../../worker/loop/capacity-pool.ts';

const MB = 1024 ** 2;

/** Returns one pool for all queues of a node, and the worker info that shows it. */
export function machineCapacity(offers: string): { readonly pool: CapacityPool; readonly info: string } {
  const machine = { cpu: availableParallelism(), memoryMb: Math.floor(totalmem() / MB) };
  const pool = new CapacityPool({ ...machine, ...readResources(offers) });
  return { pool, info: JSON.stringify({ offers: pool.whole }) };
}
