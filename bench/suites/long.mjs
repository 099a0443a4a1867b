/**
 * What happens to a long job when its worker is killed, when its handler blocks the event loop, and when the store is away
 * while it ends. All contenders run at the same time: they mostly wait.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const graceMs = 3_000;

/** Kills the worker of a running job with SIGKILL; returns the seconds until another worker runs the job again. */
export async function killed({ start, run }, { limitMs }) {
  const first = await holder(start, { mode: 'hang' });
  await run('fill', { count: 1 });
  await first.next('started', limitMs);
  const second = await holder(start, { mode: 'wait', ms: 0 });
  first.kill();
  const killedAtMs = nowMs();
  const rerun = await second.next('started', limitMs);
  second.kill();
  return rerun ? { seconds: (rerun.atMs - killedAtMs) / 1_000 } : { moreThanSeconds: limitMs / 1_000 };
}

/** Blocks the event loop of a worker beside a second, idle worker; returns how often the job was started. */
export async function blocked({ start, run }, { blockMs }) {
  const first = await holder(start, { mode: 'block', ms: blockMs });
  await run('fill', { count: 1 });
  await first.next('started', blockMs);
  const second = await holder(start, { mode: 'wait', ms: 0 });
  await first.next('ended', blockMs + graceMs);
  await sleep(graceMs);
  const runs = first.count('started') + second.count('started');
  first.kill();
  second.kill();
  return { runs };
}

/** Starts a job that ends while the store is away. `outage` resolves when the store is back. */
export async function away({ start, run }, { awayMs, limitMs, outage }) {
  const worker = await holder(start, { mode: 'wait', ms: awayMs / 2 });
  await run('fill', { count: 1 });
  await worker.next('started', limitMs);
  const backAtMs = await outage();
  const check = start('settledInStore', {});
  const settled = await Promise.race([check.answer, sleep(limitMs, null)]);
  check.kill();
  const seen = { runs: worker.count('started'), hasExited: worker.hasExited() };
  worker.kill();
  return settled === null
    ? { ...seen, moreThanSeconds: limitMs / 1_000 }
    : { ...seen, seconds: Math.max(0, settled.atMs - backAtMs) / 1_000 };
}

/** Starts a worker process and collects what it reports. */
async function holder(start, options) {
  const [events, waiting] = [[], []];
  const side = start('hold', options, (event) => {
    events.push(event);
    for (const check of waiting) check();
  });
  let hasExited = false;
  side.answer.catch(() => (hasExited = true));
  await side.ready;
  return {
    kill: side.kill,
    hasExited: () => hasExited,
    count: (name) => events.filter(({ event }) => event === name).length,
    /** Resolves with the first event of this name, or with undefined after the limit. */
    next: (name, limitMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, limitMs);
        const check = () => {
          const found = events.find(({ event }) => event === name);
          if (found) clearTimeout(timer);
          if (found) resolve(found);
        };
        waiting.push(check);
        check();
      }),
  };
}
