/**
 * A disk of 24 MB that is full at random moments under a SQLite store: adds fail with `store-full`, running jobs can still
 * be settled, no acknowledged job is lost, and the store accepts jobs again when there is space.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spawnGuarded } from '../support/guarded-process.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder } from './blobs-workbench.ts';

const ROUNDS = testSize({ small: 3, full: 50 });
const fixture = join(import.meta.dirname, '..', 'fixtures', 'sqlite-full-disk.mjs');

// The mount namespace ends with the process, so that no mount is left behind.
const namespace = process.getuid?.() === 0 ? '-m' : '-rm';
const mountAndRun = 'mount -t tmpfs -o size=24m tmpfs "$1" && shift && exec "$@"';
const canMount = spawnSync('sh', ['-c', `unshare ${namespace} mount -t tmpfs tmpfs /mnt`]).status === 0;

// The test needs to mount a small disk.
describe.skipIf(!canMount)('a disk that is full under a SQLite store', () => {
  it('fails only new jobs, and recovers by itself', async () => {
    const folder = await aFolder();
    const command = ['sh', '-c', mountAndRun, 'sh', folder, process.execPath, fixture, folder, String(ROUNDS)];
    const child = await spawnGuarded('unshare', [namespace, ...command]);
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    await child.ended;
    expect(errors).toBe('');
    const counts = JSON.parse(output) as Record<string, number>;
    process.stdout.write(`\nfigures: full disk under SQLite ${JSON.stringify(counts)}\n`);
    expect(counts).toMatchObject({ type: 'done', rounds: ROUNDS, full: ROUNDS, settled: ROUNDS * 100 });
  }, 180_000);
});
