/**
 * How much 10 MB/s of log lines into a data directory delay the event loop of a worker: the delay while a handler writes
 * lines of 1 KB, and while the same handler makes them and writes none. Both take turns.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../dist/library/index.js';

const lineBytes = 1_000;
const linesPerTick = 100;
const tickMs = 10;

/** Returns the 99th percentiles in ms, of the lowest of the rounds, and the rate of the lines. */
export async function measureLogDelay({ rounds = 3, roundMs = 2_000 } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'longhaul-log-rate-'));
  const longhaul = await connect('memory:', { home });
  try {
    const queue = longhaul.queue('bench');
    queue.work((job) => writeLines(job, roundMs));
    const taken = { silent: [], logged: [] };
    let bytes = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const kind of ['silent', 'logged']) {
        const job = await queue.add(kind);
        const { p99, lines } = await job.finished();
        taken[kind].push(p99);
        if (kind === 'silent') continue;
        const { size } = statSync(join(home, 'jobs', job.id, 'attempts', '1', 'log'));
        if (size !== lines * lineBytes) throw new Error(`${size} bytes are in the log, not ${lines * lineBytes}`);
        bytes += size;
      }
    }
    const [silent, logged] = [Math.min(...taken.silent), Math.min(...taken.logged)];
    return {
      silentMs: silent,
      loggedMs: logged,
      addedMs: logged - silent,
      megabytesPerSecond: bytes / 1e3 / (rounds * roundMs),
    };
  } finally {
    await longhaul.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function writeLines({ data, log }, ms) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let lines = 0;
  const startedAt = performance.now();
  for (let tick = 1; tick * tickMs <= ms; tick += 1) {
    for (let at = 0; at < linesPerTick; at += 1) {
      const line = `${lines} `.padEnd(lineBytes - 1, 'x');
      if (data === 'logged') log(line);
      lines += 1;
    }
    const waitMs = startedAt + tick * tickMs - performance.now();
    await sleep(Math.max(0, waitMs));
  }
  delay.disable();
  return { p99: delay.percentile(99) / 1e6, lines };
}
