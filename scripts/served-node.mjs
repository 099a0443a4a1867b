/**
 * Starts `longhaul serve` for a script: with a data directory of its own, on a free port, and ended with the script however
 * that ends. Jobs of the node outlive it, so the caller must cancel the jobs that it starts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './script-support.mjs';

/** A shell between the script and the node: when the script ends, its stdin closes and it ends the node. */
const supervisor = '"$@" </dev/null & pid=$!; echo "pid $pid"; read -r _; kill "$pid"; wait "$pid"';
const startMs = 60_000;
const MAX_OUTPUT = 10_000;

export const makeHome = (name) => mkdtempSync(join(tmpdir(), `longhaul-${name}-`));

/** Returns { pid, port, url, home, end, stop }; `stop` also removes the data directory. */
export async function startNode(home, env = {}) {
  const command = [process.execPath, join(root, 'dist/cli/main.js'), 'serve', '--home', home, '--port', '0'];
  const child = spawn('sh', ['-c', supervisor, 'supervisor', ...command, '--log-format', 'pretty'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const end = async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  };
  const stop = async () => {
    await end();
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  const timer = setTimeout(() => child.stdin.end(), startMs);
  try {
    const { pid, port } = await readAddress(child);
    return { pid, port, url: `http://127.0.0.1:${port}/`, home, end, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads all lines to the end: a node whose pipe is full would block at its last lines and never end. */
function readAddress(child) {
  return new Promise((resolve, reject) => {
    let output = '';
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      if (output.length < MAX_OUTPUT) output += `${line}\n`;
      const [pid, port] = [/^pid (\d+)$/m.exec(output)?.[1], /127\.0\.0\.1:(\d+)/.exec(output)?.[1]];
      if (pid && port) resolve({ pid: Number(pid), port: Number(port) });
    });
    lines.on('close', () => reject(new Error(`the node ended before it printed its address: ${output}`)));
  });
}
