/** `longhaul top`: the running jobs, drawn again and again. Looks and never changes anything; q or Ctrl-C ends it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { JobView } from '../../../library/index.ts';
import { expectedEnd } from '../../../wire/expected-end.ts';
import { span } from '../../../wire/spans.ts';
import { createLogCleaner, plainLine } from '../../output/clean-text.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { paint, print, printJson, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { toldToStopPrinting } from '../../target/stop-signal.ts';
import { elapsedMs, expectedEndWords, labelCell, progressWords } from './job-summary.ts';

const EVERY_MS = 1_000;
const MOST = 100;
const TAIL_BYTES = 2_048;

export async function top(call: Call): Promise<number> {
  if (call.positionals.length > 0) throw call.wrong('too many words');
  const isOnce = call.flag('once') || call.flag('json') || !screenOf().isTerminal;
  return withTarget(call, async (target) => {
    if (!isOnce) return watchScreen(target);
    const look = await lookAt(target);
    if (call.flag('json')) printJson(look.jobs.map(({ job, lastLine }) => ({ ...job, lastLine })));
    else for (const line of linesOf(look)) print(line);
    return 0;
  });
}

interface Row {
  readonly job: JobView;
  readonly lastLine: string;
}

interface Look {
  readonly jobs: readonly Row[];
  readonly waiting: number;
  readonly failed: number;
}

async function lookAt(target: Target): Promise<Look> {
  const [{ jobs }, counts] = await Promise.all([
    target.longhaul.list({ state: 'running', limit: MOST }),
    target.longhaul.queues(),
  ]);
  const rows = await Promise.all(jobs.map(async (job) => ({ job, lastLine: await lastLine(target, job) })));
  const sum = (state: 'waiting' | 'failed'): number => counts.reduce((total, count) => total + count[state], 0);
  return { jobs: rows, waiting: sum('waiting'), failed: sum('failed') };
}

/** What is below the last newline too, as long as something stands there: a bar that is drawn with carriage returns. */
async function lastLine(target: Target, { id, attempt }: JobView): Promise<string> {
  // It may be deleted since it was listed: then there is nothing to show of it.
  const tail = await target.files.tailLog({ id, attempt }, TAIL_BYTES).catch(() => new Uint8Array());
  const text = createLogCleaner({ keepsColours: false }).clean(tail);
  return (
    text
      .split(/[\r\n]+/)
      .findLast((line) => line.trim() !== '')
      ?.trim() ?? ''
  );
}

function linesOf({ jobs, waiting, failed }: Look): string[] {
  const screen = screenOf();
  const head = `${jobs.length} running, ${waiting} waiting, ${failed} failed`;
  return [paint(screen, 'bold', head), ...(jobs.length === 0 ? [] : ['', ...table(columns(Date.now()), jobs, screen)])];
}

function columns(now: number): Column<Row>[] {
  return [
    { title: 'ID', isWhole: true, of: ({ job }) => job.id },
    { title: 'QUEUE', of: ({ job }) => job.queue },
    { title: 'STATE', isWhole: true, of: ({ job }) => labelCell(job) },
    { title: 'FOR', isWhole: true, of: ({ job }) => span(elapsedMs(job, now) ?? 0) },
    { title: 'PROGRESS', isWhole: true, of: ({ job }) => progressWords(job) },
    { title: 'ENDS', of: ({ job }) => (expectedEnd(job) === null ? '' : expectedEndWords(job, now)) },
    { title: 'LAST LINE', of: ({ job, lastLine }) => lastLine || (job.progress?.text ?? '') },
  ];
}

const SCREEN_ON = '\u001b[?1049h\u001b[?25l';
const SCREEN_OFF = '\u001b[?25h\u001b[?1049l';

async function watchScreen(target: Target): Promise<number> {
  const { signal, release } = quitKeys();
  process.stdout.write(SCREEN_ON);
  try {
    while (!signal.aborted) {
      const { height } = screenOf();
      const lines = [...(await linesNow(target)).slice(0, height - 2), '', 'q quits'];
      process.stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\n')}\u001b[J`);
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    process.stdout.write(SCREEN_OFF);
    release();
  }
  return 0;
}

/** A node or a store that is away for a moment is waited for. */
async function linesNow(target: Target): Promise<string[]> {
  try {
    return linesOf(await lookAt(target));
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return [plainLine(error.message)];
  }
}

/** In raw mode Ctrl-C is a key like any other. */
function quitKeys(): { signal: AbortSignal; release(): void } {
  const told = toldToStopPrinting();
  const controller = new AbortController();
  const onKey = (key: Buffer): void => {
    if (['q', 'Q', '\u0003', '\u001b'].includes(key.toString())) controller.abort();
  };
  const { stdin } = process;
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('data', onKey);
  return {
    signal: AbortSignal.any([told.signal, controller.signal]),
    release: () => {
      stdin.off('data', onKey);
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
      told.release();
    },
  };
}
