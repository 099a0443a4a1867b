import { expect, test } from 'vitest';
import { readUnits } from '../core/needs.ts';
import { machineOffer } from './machine-units.ts';

test('A machine offers its cores and its memory, and what its settings add or set.', () => {
  const { pool, info } = machineOffer('cpu=3,gpu=2');
  const { cpu, gpu, memoryMb } = readUnits(pool.whole);
  expect({ cpu, gpu }).toEqual({ cpu: 3, gpu: 2 });
  expect(memoryMb).toBeGreaterThan(0);
  expect(JSON.parse(info)).toEqual({ offers: pool.whole });
});
