/**
 * A disk of 24 MB that is full at random moments of uploads, adds, stagings and sweeps: each is refused as
 * `store-full`, nothing half is seen or left, what was there stays whole, and uploads go on when there is room again.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spawnGuarded } from '../support/guarded-process.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder } from './blobs-workbench.ts';

const ROUNDS = testSize({ small: 12, full: 60 });
const fixture = join(import.meta.dirname, '..', 'fixtures', 'blobs-full-disk.mjs');

// In a mount namespace of its own, which ends with the process: nothing is left mounted, whatever happens.
const namespace = process.getuid?.() === 0 ? '-m' : '-rm';
const mountAndRun = 'mount -t tmpfs -o size=24m tmpfs "$1" && shift && exec "$@"';
const canMount = spawnSync('sh', ['-c', `unshare ${namespace} mount -t tmpfs tmpfs /mnt`]).status === 0;

describe.skipIf(!canMount)('a disk that is full at random moments', () => {
  it('refuses and recovers, and loses nothing', async () => {
    const folder = await aFolder();
    const command = ['sh', '-c', mountAndRun, 'sh', folder, process.execPath, fixture, folder, String(ROUNDS)];
    const child = await spawnGuarded('unshare', [namespace, ...command]);
    let [output, complaints] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    await child.ended;
    expect(complaints).toBe('');
    const counts = JSON.parse(output) as Record<string, number>;
    process.stdout.write(`\nfigures: full disk ${JSON.stringify(counts)}\n`);
    expect(counts).toMatchObject({ type: 'done', rounds: ROUNDS });
    expect(counts['full']).toBeGreaterThan(ROUNDS / 3);
    expect(counts['resumed']).toBeGreaterThan(0);
  }, 120_000);
});
