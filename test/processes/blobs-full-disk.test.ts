/**
 * A disk of 24 MB that is full at random moments of uploads, adds, stagings and sweeps: each fails with `store-full`, no
 * partial blob is visible or left, existing blobs stay intact, and uploads continue when there is space again.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spawnGuarded } from '../support/guarded-process.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder } from './blobs-workbench.ts';

const ROUNDS = testSize({ small: 12, full: 60 });
const fixture = join(import.meta.dirname, '..', 'fixtures', 'blobs-full-disk.mjs');

// The mount namespace ends with the process, so that no mount is left behind.
const namespace = process.getuid?.() === 0 ? '-m' : '-rm';
const mountAndRun = 'mount -t tmpfs -o size=24m tmpfs "$1" && shift && exec "$@"';
const canMount = spawnSync('sh', ['-c', `unshare ${namespace} mount -t tmpfs tmpfs /mnt`]).status === 0;

describe.skipIf(!canMount)('a disk that is full at random moments', () => {
  it('fails calls with store-full, recovers, and loses nothing', async () => {
    const folder = await aFolder();
    const command = ['sh', '-c', mountAndRun, 'sh', folder, process.execPath, fixture, folder, String(ROUNDS)];
    const child = await spawnGuarded('unshare', [namespace, ...command]);
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    await child.ended;
    expect(errors).toBe('');
    const counts = JSON.parse(output) as Record<string, number>;
    process.stdout.write(`\nfigures: full disk ${JSON.stringify(counts)}\n`);
    expect(counts).toMatchObject({ type: 'done', rounds: ROUNDS });
    expect(counts['full']).toBeGreaterThan(ROUNDS / 3);
    expect(counts['resumed']).toBeGreaterThan(0);
  }, 120_000);
});
