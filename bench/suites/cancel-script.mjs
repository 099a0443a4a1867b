/** Cancels a script with processes of its own, one of them in another session, and measures until the last one has ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const program = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
const limitMs = 60_000;
const processes = 3;
const pollMs = 5;

/** Returns { seconds }, and how many processes the script had. */
export async function cancelScript({ parent }) {
  const { connect } = await import('../../dist/library/index.js');
  const folder = mkdtempSync(join(parent, 'cancel-'));
  const marker = `${100_000 + process.pid}.${Date.now() % 1_000}`;
  mkdirSync(join(folder, 'queues'), { mode: 0o700 });
  const text = `#!/bin/bash\nsleep ${marker} &\nsetsid sleep ${marker} &\n(sleep ${marker}; true) &\nwait\n`;
  writeFileSync(join(folder, 'queues', 'work'), text, { mode: 0o755 });
  const node = await startNode(folder);
  const longhaul = await connect(folder);
  try {
    const job = await longhaul.queue('work').add({});
    await until(() => sleepers(marker) === processes, `the script has ${processes} processes`);
    const startedAt = performance.now();
    await longhaul.cancel(job.id);
    await until(() => sleepers(marker) === 0, 'the last process of the cancelled script has ended');
    return { seconds: (performance.now() - startedAt) / 1_000, processes };
  } finally {
    await longhaul.close();
    node.kill('SIGTERM');
    await once(node, 'exit');
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

async function startNode(folder) {
  const output = join(folder, 'output');
  const node = spawn(process.execPath, [program, 'serve', '--home', folder], {
    env: { ...process.env, LONGHAUL_PORT: '0', LONGHAUL_LOG_FORMAT: 'pretty' },
    stdio: ['ignore', openSync(output, 'w'), 'inherit'],
  });
  await until(
    () => node.exitCode !== null || readFileSync(output, 'utf8').includes('longhaul serves'),
    'the node runs',
  );
  if (node.exitCode !== null) throw new Error(`the node exited with ${node.exitCode}`);
  return node;
}

async function until(isTrue, what) {
  const startedAt = performance.now();
  while (!isTrue()) {
    if (performance.now() - startedAt > limitMs) throw new Error(`not within ${limitMs / 1_000} s: ${what}`);
    await sleep(pollMs);
  }
}

/** Counts the processes with the marker as their argument. */
const sleepers = (marker) =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid) === `sleep\0${marker}\0`).length;

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It ended meanwhile.
    return '';
  }
}
