/** A Python with the redis package (Debian: python3-redis), which Blueque needs. */
import { spawnSync } from 'node:child_process';
import type { Checkout } from './checkout.ts';

const CANDIDATES = ['python3', '/usr/bin/python3'];

/** Returns the path of the first one that can import redis, or null. */
export function pythonWithRedis(): string | null {
  return CANDIDATES.find((path) => spawnSync(path, ['-c', 'import redis']).status === 0) ?? null;
}

export const blueque: Checkout = {
  variable: 'BLUEQUE_CHECKOUT',
  system: 'ustudio/Blueque 1.0.0',
  needs: ['tests/test_integration.py', 'blueque/client.py'],
};
