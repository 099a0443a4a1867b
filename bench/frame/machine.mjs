/** Facts of the machine, without which a rate means nothing. */
import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, type as systemName, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const tmpfs = 0x01021994;
const syncTestMs = 1_000;
const idleTestMs = 1_000;
const busyShare = 0.1;

export async function machineFacts({ folder, redis, postgres, root }) {
  const info = await redis.info();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commitOf(root),
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: systemName(),
    node: process.versions.node,
    redis: info.valkey_version ? `Valkey ${info.valkey_version}` : `Redis ${info.redis_version}`,
    ...(postgres && { postgres: `PostgreSQL ${await postgres.version()}` }),
    disk: statfsSync(folder).type === tmpfs ? 'memory (tmpfs): fsync costs nothing here' : 'disk',
    fsyncsPerSecond: Math.round(fsyncRate(folder)),
  };
}

/** Appends and syncs 4 KB repeatedly: the upper bound of every durable rate. */
function fsyncRate(folder) {
  const path = join(folder, 'fsync-test');
  const file = openSync(path, 'w');
  const block = Buffer.alloc(4_096, 1);
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < syncTestMs; count += 1) {
    writeSync(file, block);
    fdatasyncSync(file);
  }
  closeSync(file);
  rmSync(path);
  return count / ((performance.now() - startedAt) / 1_000);
}

function commitOf(root) {
  try {
    const git = (...args) =>
      execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' with changes');
  } catch {
    return 'unknown';
  }
}

/** Returns whether other processes use the machine while this process only waits. */
export async function isBusy() {
  const before = cpuTimes();
  await sleep(idleTestMs);
  const after = cpuTimes();
  return 1 - (after.idle - before.idle) / (after.all - before.all) > busyShare;
}

function cpuTimes() {
  const times = cpus().map(({ times: each }) => each);
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.map((each) => sum(Object.values(each)))) };
}
