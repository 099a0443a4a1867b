/** Follows a running command. The first Ctrl-C detaches, a second one soon after cancels the job. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobView } from '../../../library/index.ts';
import { createLogCleaner, plainLine } from '../../output/clean-text.ts';
import { outputClosed } from '../../output/closed-output.ts';
import { printNotice } from '../../output/screen.ts';
import type { Target } from '../../target/open-target.ts';
import { listenForStop, listenForStopOrClosedOutput } from '../../target/stop-signal.ts';
import { followJob, logPrinter } from './follow-log.ts';

/** How long after the first Ctrl-C a second one cancels the job. */
const CANCEL_WINDOW_MS = 2_000;

/** Returns the ended job, or null if it was left running. */
export async function watchCommand(target: Target, id: string): Promise<JobView | null> {
  const print = logPrinter(createLogCleaner({ keepsColours: (process.env['NO_COLOR'] ?? '') === '' }));
  const before = await target.longhaul.find(id);
  if (before?.label === 'paused') printNotice(`longhaul: job ${id} is waiting: ${plainLine(before.reason)}`);
  const first = listenForStopOrClosedOutput();
  const follow = (signal: AbortSignal) => followJob(target, { id, signal, print });
  try {
    const job = await follow(first.signal);
    if (job !== null) return job;
  } finally {
    first.release();
  }
  printNotice(`\nlonghaul: detached, job ${id} keeps running. To follow it again: longhaul logs -f ${id}`);
  if (outputClosed.aborted) return null;
  printNotice('longhaul: press Ctrl-C again to cancel the job');
  if (!(await stoppedAgain())) return null;
  const answer = await target.longhaul.cancel(id);
  printNotice(`longhaul: ${answer.ok ? 'cancelling' : answer.refusal.message}`);
  return waitForEnd(target, id);
}

async function stoppedAgain(): Promise<boolean> {
  const second = listenForStop();
  try {
    await sleep(CANCEL_WINDOW_MS, undefined, { signal: second.signal }).catch(() => undefined);
    return second.signal.aborted;
  } finally {
    second.release();
  }
}

/** Waits without printing: the log was printed up to the first Ctrl-C. */
async function waitForEnd(target: Target, id: string): Promise<JobView | null> {
  const third = listenForStop();
  try {
    return await followJob(target, { id, signal: third.signal, print: async () => undefined });
  } finally {
    third.release();
  }
}
