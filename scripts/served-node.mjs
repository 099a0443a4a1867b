/**
 * `longhaul serve` for a script that wants a node for a while: on a home of its own, on any free port, gone with the
 * script however that ends. Its scripts would outlive it, as they are meant to: whoever starts some cancels them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './script-support.mjs';

/** A few lines of sh stand between: when this process ends, in whatever way, they see it and end the node. */
const keeper = '"$@" </dev/null & pid=$!; echo "pid $pid"; read -r _; kill "$pid"; wait "$pid"';
const startMs = 60_000;
const MOST_HEARD = 10_000;

export const makeHome = (name) => mkdtempSync(join(tmpdir(), `longhaul-${name}-`));

/** Answers { pid, port, url, home, stop }. The home goes with it. */
export async function startNode(home, env = {}) {
  const words = [process.execPath, join(root, 'dist/cli/main.js'), 'serve', '--home', home, '--port', '0'];
  const child = spawn('sh', ['-c', keeper, 'keeper', ...words, '--log-format', 'pretty'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const stop = async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  const timer = setTimeout(() => child.stdin.end(), startMs);
  try {
    const { pid, port } = await whereabouts(child);
    return { pid, port, url: `http://127.0.0.1:${port}/`, home, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Its lines are read to the end: a node whose pipe is full cannot say its last ones, and would never end. */
function whereabouts(child) {
  return new Promise((resolve, reject) => {
    let heard = '';
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      if (heard.length < MOST_HEARD) heard += `${line}\n`;
      const [pid, port] = [/^pid (\d+)$/m.exec(heard)?.[1], /127\.0\.0\.1:(\d+)/.exec(heard)?.[1]];
      if (pid && port) resolve({ pid: Number(pid), port: Number(port) });
    });
    lines.on('close', () => reject(new Error(`the node ended before it said where it listens: ${heard}`)));
  });
}
