/** The actions of the long-job rows (suites/long.mjs): a worker that reports each start and end of its handler. */
import { setTimeout as sleep } from 'node:timers/promises';

const queue = 'bench';
const reportMs = 50;
const pollMs = 50;
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

/** What a handler does: it never ends, blocks the event loop, or waits. */
const modes = {
  hang: () => new Promise(() => {}),
  block: async (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
  wait: (ms) => sleep(ms),
};

/** Runs a worker until it is killed. */
export async function hold(session, { mode, ms, onReady, onProgress }) {
  const handler = async () => {
    onProgress({ event: 'started', atMs: nowMs() });
    // The report must have left before the event loop is blocked.
    await sleep(reportMs);
    await modes[mode](ms);
    onProgress({ event: 'ended', atMs: nowMs() });
  };
  const worker = await session.work(queue, handler, { concurrency: 1, isIdle: true, isLong: true });
  worker.start();
  onReady();
  return new Promise(() => {});
}

/** Resolves when the job is settled in the store, however often that must be asked. */
export async function settledInStore(session) {
  const wanted = session.deletesDone ? 0 : 1;
  while ((await session.countDone(queue)) !== wanted) await sleep(pollMs);
  return { atMs: nowMs() };
}
