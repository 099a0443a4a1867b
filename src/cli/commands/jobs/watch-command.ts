/** Looks on while a command runs. The first Ctrl-C leaves it running, a second one soon after cancels it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobView } from '../../../library/index.ts';
import { createLogCleaner, plainLine } from '../../output/clean-text.ts';
import { outputClosed } from '../../output/closed-output.ts';
import { remark } from '../../output/screen.ts';
import type { Target } from '../../target/open-target.ts';
import { toldToStop, toldToStopPrinting } from '../../target/stop-signal.ts';
import { followJob, logPrinter } from './follow-log.ts';

const THINK_MS = 2_000;

/** The job at its end; null when it was left running. */
export async function watchCommand(target: Target, id: string): Promise<JobView | null> {
  const print = logPrinter(createLogCleaner({ keepsColours: (process.env['NO_COLOR'] ?? '') === '' }));
  const before = await target.longhaul.find(id);
  if (before?.label === 'paused') remark(`longhaul: job ${id} waits: ${plainLine(before.reason)}`);
  const first = toldToStopPrinting();
  const follow = (signal: AbortSignal) => followJob(target, { id, signal, print });
  try {
    const job = await follow(first.signal);
    if (job !== null) return job;
  } finally {
    first.release();
  }
  remark(`\nlonghaul: job ${id} goes on. To come back: longhaul logs -f ${id}`);
  if (outputClosed.aborted) return null;
  remark('longhaul: Ctrl-C once more cancels it.');
  if (!(await toldAgain())) return null;
  const answer = await target.longhaul.cancel(id);
  remark(`longhaul: ${answer.ok ? 'cancelling' : answer.refusal.message}`);
  return waitForEnd(target, id);
}

async function toldAgain(): Promise<boolean> {
  const second = toldToStop();
  try {
    await sleep(THINK_MS, undefined, { signal: second.signal }).catch(() => undefined);
    return second.signal.aborted;
  } finally {
    second.release();
  }
}

/** What it printed was seen up to the first Ctrl-C: this only waits. */
async function waitForEnd(target: Target, id: string): Promise<JobView | null> {
  const third = toldToStop();
  try {
    return await followJob(target, { id, signal: third.signal, print: async () => undefined });
  } finally {
    third.release();
  }
}
