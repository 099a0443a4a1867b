/** `longhaul top`: redraws a table of the running jobs until q or Ctrl-C. Changes nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { QueueCounts } from '../../../core/ports/job-store.ts';
import type { JobView } from '../../../library/index.ts';
import { expectedEnd } from '../../../wire/expected-end.ts';
import { span } from '../../../wire/spans.ts';
import { createLogCleaner, plainLine } from '../../output/clean-text.ts';
import type { Column } from '../../output/columns.ts';
import { table } from '../../output/columns.ts';
import { fit, paint, print, printJson, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { listenForStopOrClosedOutput } from '../../target/stop-signal.ts';
import { queuesWithoutWorker, withoutWorkerText } from '../../target/without-worker.ts';
import { elapsedMs, expectedEndText, labelCell, progressText } from './job-summary.ts';

const REFRESH_MS = 1_000;
const MAX_LIMIT = 100;
const TAIL_BYTES = 2_048;
const MAX_NAME = 40;

export async function top(args: Args): Promise<number> {
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
  const isOnce = args.flag('once') || args.flag('json') || !screenOf().isTerminal;
  return withTarget(args, async (target) => {
    if (!isOnce) return watchScreen(target);
    const snapshot = await readSnapshot(target);
    if (args.flag('json')) printJson(snapshot.jobs.map(({ job, lastLine }) => ({ ...job, lastLine })));
    else for (const line of linesOf(snapshot)) print(line);
    return 0;
  });
}

interface Row {
  readonly job: JobView;
  readonly lastLine: string;
}

interface Snapshot {
  readonly jobs: readonly Row[];
  readonly waiting: number;
  readonly failed: number;
  /** Queues in which jobs wait without any worker. */
  readonly withoutWorker: readonly QueueCounts[];
}

async function readSnapshot(target: Target): Promise<Snapshot> {
  const [{ jobs }, counts] = await Promise.all([
    target.longhaul.list({ state: 'running', limit: MAX_LIMIT }),
    target.longhaul.queues(),
  ]);
  const rows = await Promise.all(jobs.map(async (job) => ({ job, lastLine: await lastLine(target, job) })));
  const sum = (state: 'waiting' | 'failed'): number => counts.reduce((total, count) => total + count[state], 0);
  const withoutWorker = await queuesWithoutWorker(target, counts);
  return { jobs: rows, waiting: sum('waiting'), failed: sum('failed'), withoutWorker };
}

/** Returns the last line with text, even if it is unfinished or drawn with carriage returns, as progress bars are. */
async function lastLine(target: Target, { id, attempt }: JobView): Promise<string> {
  // The job may have been deleted since it was listed: then its last line is empty.
  const tail = await target.files.tailLog({ id, attempt }, TAIL_BYTES).catch(() => new Uint8Array());
  const text = createLogCleaner({ keepsColours: false }).clean(tail);
  return (
    text
      .split(/[\r\n]+/)
      .findLast((line) => line.trim() !== '')
      ?.trim() ?? ''
  );
}

function linesOf({ jobs, waiting, failed, withoutWorker }: Snapshot): string[] {
  const screen = screenOf();
  const head = `${jobs.length} running, ${waiting} waiting, ${failed} failed`;
  const warnings = withoutWorker.map((each) => paint(screen, 'yellow', withoutWorkerText(each)));
  return [
    paint(screen, 'bold', head),
    ...warnings,
    ...(jobs.length === 0 ? [] : ['', ...table(columns(Date.now()), jobs, screen)]),
  ];
}

function columns(now: number): Column<Row>[] {
  return [
    { title: 'NAME', of: ({ job }) => fit(job.name ?? '', MAX_NAME) },
    { title: 'ID', isWhole: true, of: ({ job }) => job.id },
    { title: 'QUEUE', of: ({ job }) => job.queue },
    { title: 'STATE', isWhole: true, of: ({ job }) => labelCell(job) },
    { title: 'FOR', isWhole: true, of: ({ job }) => span(elapsedMs(job, now) ?? 0) },
    { title: 'PROGRESS', isWhole: true, of: ({ job }) => progressText(job) },
    { title: 'ENDS', of: ({ job }) => (expectedEnd(job) === null ? '' : expectedEndText(job, now)) },
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
      await sleep(REFRESH_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    process.stdout.write(SCREEN_OFF);
    release();
  }
  return 0;
}

/** Shows the error and continues while the node or store is unavailable. */
async function linesNow(target: Target): Promise<string[]> {
  try {
    return linesOf(await readSnapshot(target));
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return [plainLine(error.message)];
  }
}

/** Listens for the keys that quit. In raw mode Ctrl-C arrives as a key, not as a signal. */
function quitKeys(): { signal: AbortSignal; release(): void } {
  const listener = listenForStopOrClosedOutput();
  const controller = new AbortController();
  const onKey = (key: Buffer): void => {
    if (['q', 'Q', '\u0003', '\u001b'].includes(key.toString())) controller.abort();
  };
  const { stdin } = process;
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('data', onKey);
  return {
    signal: AbortSignal.any([listener.signal, controller.signal]),
    release: () => {
      stdin.off('data', onKey);
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
      listener.release();
    },
  };
}
