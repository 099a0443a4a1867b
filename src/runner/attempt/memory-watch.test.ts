import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { proportionalBytes } from './memory-watch.ts';

it('reads the proportional share of a process, in bytes', () => {
  const rollup =
    '7f00-7fff ---p 00000000 00:00 0 [rollup]\nRss:             900 kB\nPss:             412 kB\nPss_Anon:  3 kB\n';
  expect(proportionalBytes(rollup)).toBe(412 * 1024);
  expect(proportionalBytes('')).toBeNull();
  expect(proportionalBytes(readFileSync('/proc/self/smaps_rollup', 'latin1'))).toBeGreaterThan(1024 * 1024);
});
