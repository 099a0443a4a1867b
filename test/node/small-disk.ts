/** A node whose data directory is on a disk of 24 MB, which a test can fill. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { endAllOf, eventually } from '../processes/runner-workbench.ts';
import { cli } from '../processes/scripts-workbench.ts';
import { type GuardedProcess, spawnGuarded } from '../support/guarded-process.ts';

const isRoot = process.getuid?.() === 0;
// In a mount namespace that ends with the process: nothing stays mounted.
export const canMount = isRoot && spawnSync('sh', ['-c', 'unshare -m mount -t tmpfs tmpfs /mnt']).status === 0;

const START = `
mount -t tmpfs -o size=24m tmpfs "$1/disk" && mkdir -m 700 "$1/disk/home" && cp -a "$1/queues" "$1/disk/home/" || exit 9
exec "$2" "$3" serve --home "$1/disk/home" --port 0 --log-format pretty
`;

export interface SmallDisk {
  readonly node: GuardedProcess;
  readonly url: string;
  readonly lines: readonly string[];
  /** The data directory as the node sees it, and as the test sees it from outside the namespace. */
  readonly inside: string;
  readonly outside: string;
}

/** Each queue with its bash script. */
export async function serveOnSmallDisk(queues: Readonly<Record<string, string>>): Promise<SmallDisk> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-full-'));
  for (const each of ['disk', 'queues']) mkdirSync(join(folder, each), { mode: 0o700 });
  for (const [name, text] of Object.entries(queues))
    writeFileSync(join(folder, 'queues', name), `#!/bin/bash\n${text}\n`, { mode: 0o700 });
  const node = await spawnGuarded('unshare', ['-m', 'sh', '-c', START, 'sh', folder, process.execPath, cli]);
  const lines: string[] = [];
  for (const stream of [node.stdout, node.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  onTestFinished(async () => {
    node.signal('SIGKILL');
    await node.ended;
    await endAllOf(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  await eventually(
    () => ({ lines, isAlive: node.isAlive }),
    (seen) => seen.lines.some((line) => line.includes('or open http')) || !seen.isAlive,
    30_000,
  );
  const found = lines.find((line) => line.includes('web UI and API'));
  const inside = join(folder, 'disk/home');
  return {
    node,
    url: found?.trim().split(/\s+/).at(-1) ?? '',
    lines,
    inside,
    outside: join(`/proc/${node.pid}/root`, inside),
  };
}

export function fill(disk: SmallDisk, leaveBytes: number): void {
  writeFileSync(join(disk.outside, 'filler'), Buffer.alloc(Math.max(0, freeOn(disk) - leaveBytes)));
}

/** Fills the disk to the last byte, in addition to earlier fills. */
export function fillUp(disk: SmallDisk): void {
  try {
    while (freeOn(disk) > 0) appendFileSync(join(disk.outside, 'filler'), Buffer.alloc(freeOn(disk)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

export const makeRoom = ({ outside }: SmallDisk): void => rmSync(join(outside, 'filler'));

function freeOn({ outside }: SmallDisk): number {
  const { bavail, bsize } = statfsSync(outside);
  return bavail * bsize;
}

/** Lists what uses the space, for failure messages. */
export function roomOn(disk: SmallDisk): { readonly free: number; readonly sizes: Readonly<Record<string, number>> } {
  const files = readdirSync(disk.outside).map((name) => [name, statSync(join(disk.outside, name)).size] as const);
  return { free: freeOn(disk), sizes: Object.fromEntries(files.filter(([, size]) => size > 100_000)) };
}
