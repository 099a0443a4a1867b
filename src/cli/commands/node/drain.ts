/**
 * `longhaul drain`: pauses the queues of the node on this data directory, and waits until its running jobs have ended.
 *
 * It stops no job. If the wait ends early, the queues stay paused, and a message says so.
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
import { print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { UsageError } from '../../table/command.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { listenForStop } from '../../target/stop-signal.ts';
import { elapsedMs, expectedEndText, progressText } from '../jobs/job-summary.ts';
import { changeQueue } from '../queues/pause.ts';

const POLL_MS = 500;

export async function drain(args: Args): Promise<number> {
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
  const timeout = args.text('timeout');
  const timeoutMs = timeout === undefined ? Number.POSITIVE_INFINITY : parseDuration(timeout);
  if (timeoutMs === null) throw new UsageError(`--timeout must be a duration such as 30m, not ${timeout}`);
  return withTarget(args, async (target) => {
    const queues = await queuesHere(target);
    for (const queue of queues)
      await changeQueue(target, queue, { isPause: true, note: args.text('note') ?? 'draining' });
    if (!args.flag('json')) print(`paused ${plural(queues.length, 'queue')}: ${queues.join(', ')}`);
    return finish(args, queues, await waitForRunning(args, target, timeoutMs));
  });
}

/** Returns the queues and running jobs of this node's workers, found by the pid in the lock of the data directory. */
async function workersHere(target: Target): Promise<{ queues: string[]; running: string[] }> {
  const pid = nodeOn(target.home.lock);
  if (pid === null) throw new LonghaulError('refused', `no node runs on ${target.home.root}: nothing to drain`);
  const workers = (await target.longhaul.workers()).filter((worker) => worker.pid === pid && !worker.isLost);
  return {
    queues: workers.flatMap((worker) => worker.queues),
    running: workers.flatMap((worker) => worker.running),
  };
}

async function queuesHere(target: Target): Promise<readonly string[]> {
  return [...new Set((await workersHere(target)).queues)].sort();
}

type WaitResult = { readonly end: 'drained' | 'interrupted' | 'timeout'; readonly running: readonly JobView[] };

async function waitForRunning(args: Args, target: Target, timeoutMs: number): Promise<WaitResult> {
  const until = performance.now() + timeoutMs;
  const { signal, release } = listenForStop();
  const live = liveLines({ isQuiet: args.flag('json') });
  try {
    for (;;) {
      const running = await runningHere(target);
      live.show(linesOf(running));
      if (running.length === 0) return { end: 'drained', running };
      if (signal.aborted) return { end: 'interrupted', running };
      if (performance.now() >= until) return { end: 'timeout', running };
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
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
  return [`${plural(running.length, 'job')} still running:`, ...table(columns(Date.now()), running, screenOf())];
}

function columns(now: number): Column<JobView>[] {
  return [
    { title: 'ID', isWhole: true, of: ({ id }) => id },
    { title: 'QUEUE', of: ({ queue }) => queue },
    { title: 'RUNNING FOR', isWhole: true, of: (job) => span(elapsedMs(job, now) ?? 0) },
    { title: 'PROGRESS', isWhole: true, of: progressText },
    { title: 'EXPECTED END', of: (job) => expectedEndText(job, now) },
  ];
}

function finish(args: Args, queues: readonly string[], { end, running }: WaitResult): number {
  const isDrained = end === 'drained';
  const left = running.map((job) => ({ id: job.id, queue: job.queue, expectedEnd: expectedEnd(job) }));
  if (args.flag('json')) printJson({ queues, drained: isDrained, running: left });
  else if (isDrained) print('drained: no job is running; resume the queues with longhaul resume');
  if (!isDrained)
    printNotice(
      `longhaul: ${plural(running.length, 'job')} still running; the queues stay paused until longhaul resume`,
    );
  return isDrained ? 0 : 1;
}
