/**
 * A disk of 24 MB that is full at random moments under a SQLite store: new jobs are refused as `store-full`, running
 * ones can still end, nothing acked is lost, and jobs are taken again by itself when there is room.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spawnGuarded } from '../support/guarded-process.ts';
import { testSize } from '../support/test-size.ts';
import { aFolder } from './blobs-workbench.ts';

const ROUNDS = testSize({ small: 3, full: 50 });
const fixture = join(import.meta.dirname, '..', 'fixtures', 'sqlite-full-disk.mjs');

// In a mount namespace of its own, which ends with the process: nothing is left mounted, whatever happens.
const namespace = process.getuid?.() === 0 ? '-m' : '-rm';
const mountAndRun = 'mount -t tmpfs -o size=24m tmpfs "$1" && shift && exec "$@"';
const canMount = spawnSync('sh', ['-c', `unshare ${namespace} mount -t tmpfs tmpfs /mnt`]).status === 0;

// Where no file system can be mounted there is no small disk to fill.
describe.skipIf(!canMount)('a disk that is full under a SQLite store', () => {
  it('refuses new jobs and nothing else, and recovers by itself', async () => {
    const folder = await aFolder();
    const command = ['sh', '-c', mountAndRun, 'sh', folder, process.execPath, fixture, folder, String(ROUNDS)];
    const child = await spawnGuarded('unshare', [namespace, ...command]);
    let [output, complaints] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    await child.ended;
    expect(complaints).toBe('');
    const counts = JSON.parse(output) as Record<string, number>;
    process.stdout.write(`\nfigures: full disk under SQLite ${JSON.stringify(counts)}\n`);
    expect(counts).toMatchObject({ type: 'done', rounds: ROUNDS, full: ROUNDS, settled: ROUNDS * 100 });
  }, 180_000);
});
