import { expect, test } from 'vitest';
import { readResources } from '../../core/limits/resources.ts';
import { machineCapacity } from './machine-capacity.ts';

test('has the cores and memory of the machine, and what the settings add or override', () => {
  const { pool, info } = machineCapacity('cpu=3,gpu=2');
  const { cpu, gpu, memoryMb } = readResources(pool.whole);
  expect({ cpu, gpu }).toEqual({ cpu: 3, gpu: 2 });
  expect(memoryMb).toBeGreaterThan(0);
  expect(JSON.parse(info)).toEqual({ offers: pool.whole });
});
