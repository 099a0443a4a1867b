/**
 * `longhaul drain`: pauses the queues of the node on this home, and waits until nothing of them runs here.
 *
 * It stops nothing. Whoever gives up waiting leaves the queues paused, and is told so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../../../core/input/duration.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { JobView } from '../../../library/index.ts';
import { nodeOn } from '../../../node/node-lock.ts';
import { expectedEnd } from '../../../wire/expected-end.ts';
import { plural, span } from '../../../wire/spans.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { liveLines } from '../../output/live-lines.ts';
import { print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { UsageError } from '../../table/command.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { toldToStop } from '../../target/stop-signal.ts';
import { elapsedMs, expectedEndWords, progressWords } from '../jobs/job-summary.ts';
import { changeQueue } from '../queues/pause.ts';

const LOOK_EVERY_MS = 500;

export async function drain(call: Call): Promise<number> {
  if (call.positionals.length > 0) throw call.wrong('too many words');
  const timeout = call.text('timeout');
  const timeoutMs = timeout === undefined ? Number.POSITIVE_INFINITY : parseDuration(timeout);
  if (timeoutMs === null) throw new UsageError(`--timeout must be a duration such as 30m, not ${timeout}`);
  return withTarget(call, async (target) => {
    const queues = await queuesHere(target);
    for (const queue of queues)
      await changeQueue(target, queue, { isPause: true, note: call.text('note') ?? 'draining' });
    if (!call.flag('json')) print(`paused ${plural(queues.length, 'queue')}: ${queues.join(', ')}`);
    return finish(call, queues, await waitForRunning(call, target, timeoutMs));
  });
}

/** The workers of this node, known by the process that holds the home. */
async function workersHere(target: Target): Promise<{ queues: string[]; running: string[] }> {
  const pid = nodeOn(target.home.lock);
  if (pid === null)
    throw new LonghaulError('refused', `no node runs on ${target.home.root}: there is nothing to drain`);
  const workers = (await target.longhaul.workers()).filter((worker) => worker.pid === pid && !worker.isLost);
  return {
    queues: workers.flatMap((worker) => worker.queues),
    running: workers.flatMap((worker) => worker.running),
  };
}

async function queuesHere(target: Target): Promise<readonly string[]> {
  return [...new Set((await workersHere(target)).queues)].sort();
}

type Waited = { readonly end: 'drained' | 'gave up' | 'timeout'; readonly running: readonly JobView[] };

async function waitForRunning(call: Call, target: Target, timeoutMs: number): Promise<Waited> {
  const until = performance.now() + timeoutMs;
  const { signal, release } = toldToStop();
  const live = liveLines({ isQuiet: call.flag('json') });
  try {
    for (;;) {
      const running = await runningHere(target);
      live.show(linesOf(running));
      if (running.length === 0) return { end: 'drained', running };
      if (signal.aborted) return { end: 'gave up', running };
      if (performance.now() >= until) return { end: 'timeout', running };
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    live.end();
    release();
  }
}

async function runningHere(target: Target): Promise<readonly JobView[]> {
  const { running } = await workersHere(target);
  const jobs = await Promise.all(running.map((id) => target.longhaul.find(id)));
  return jobs.filter((job): job is JobView => job?.state === 'running');
}

function linesOf(running: readonly JobView[]): readonly string[] {
  if (running.length === 0) return [];
  return [
    `${plural(running.length, 'job')} still ${running.length === 1 ? 'runs' : 'run'}:`,
    ...table(columns(Date.now()), running, screenOf()),
  ];
}

function columns(now: number): Column<JobView>[] {
  return [
    { title: 'ID', isWhole: true, of: ({ id }) => id },
    { title: 'QUEUE', of: ({ queue }) => queue },
    { title: 'RUNNING FOR', isWhole: true, of: (job) => span(elapsedMs(job, now) ?? 0) },
    { title: 'PROGRESS', isWhole: true, of: progressWords },
    { title: 'EXPECTED END', of: (job) => expectedEndWords(job, now) },
  ];
}

function finish(call: Call, queues: readonly string[], { end, running }: Waited): number {
  const isDrained = end === 'drained';
  const left = running.map((job) => ({ id: job.id, queue: job.queue, expectedEnd: expectedEnd(job) }));
  if (call.flag('json')) printJson({ queues, drained: isDrained, running: left });
  else if (isDrained) print('nothing runs any more; longhaul resume lets the queues go on');
  if (!isDrained)
    remark(
      `longhaul: ${plural(running.length, 'job')} still ${running.length === 1 ? 'runs' : 'run'}; the queues stay paused until longhaul resume`,
    );
  return isDrained ? 0 : 1;
}
