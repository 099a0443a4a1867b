import { expect, test } from 'vitest';
import { readResources } from '../../core/limits/resources.ts';
import { machineOffer } from './machine-capacity.ts';

test('A machine offers its cores and its memory, and what its settings add or set.', () => {
  const { pool, info } = machineOffer('cpu=3,gpu=2');
  const { cpu, gpu, memoryMb } = readResources(pool.whole);
  expect({ cpu, gpu }).toEqual({ cpu: 3, gpu: 2 });
  expect(memoryMb).toBeGreaterThan(0);
  expect(JSON.parse(info)).toEqual({ offers: pool.whole });
});
