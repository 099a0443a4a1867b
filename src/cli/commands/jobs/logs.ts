/** `longhaul logs`: prints, follows or searches the log of an attempt. */
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { JobView } from '../../../library/index.ts';
import { createLogCleaner, plainLine } from '../../output/clean-text.ts';
import { outputClosed } from '../../output/closed-output.ts';
import { paint, print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { UsageError } from '../../table/command.ts';
import type { LogRef } from '../../target/files.ts';
import { findJob } from '../../target/job-ids.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { listenForStopOrClosedOutput } from '../../target/stop-signal.ts';
import { followJob, logPrinter } from './follow-log.ts';

const MAX_ATTEMPT = 1_000_000_000;

export async function logs(args: Args): Promise<number> {
  const given = args.only('ID');
  const attempt = args.number('attempt', [1, MAX_ATTEMPT]);
  if (args.flag('regex') && args.text('search') === undefined) throw args.usageError('--regex requires --search');
  if (args.flag('json') && args.text('search') === undefined) throw args.usageError('--json requires --search');
  return withTarget(args, async (target) => {
    const job = await findJob(target, given);
    const { id } = job;
    if (attempt !== undefined && attempt > job.attempt)
      throw new LonghaulError('refused', `job ${id} has no attempt ${attempt}: ${attemptsOf(job)}`);
    if (args.flag('follow')) return follow(args, target, { id, attempt });
    if (job.attempt === 0)
      throw new LonghaulError('refused', `job ${id} has not started yet: wait for it with longhaul logs -f ${id}`);
    const log = { id, attempt: attempt ?? job.attempt };
    if (args.text('search') !== undefined) return search(args, target, log);
    await printAll(args, target, log);
    return 0;
  });
}

function attemptsOf({ attempt }: JobView): string {
  return attempt === 0 ? 'it has not started yet' : `it has ${attempt}`;
}

async function follow(
  args: Args,
  target: Target,
  { id, attempt }: { id: string; attempt: number | undefined },
): Promise<number> {
  const { signal, release } = listenForStopOrClosedOutput();
  try {
    const write = printerFor(args);
    let hasOutput = false;
    const print = (bytes: Uint8Array): Promise<void> => {
      hasOutput = true;
      return write(bytes);
    };
    const job = await followJob(target, { id, attempt, signal, print });
    if (job !== null && !hasOutput) sayNoOutput({ id, attempt: attempt ?? job.attempt });
    if (job !== null && job.state !== 'done')
      printNotice(`longhaul: job ${id} ended ${plainLine(job.label)}: ${plainLine(job.reason)}`);
    return 0;
  } finally {
    release();
  }
}

function sayNoOutput({ id, attempt }: LogRef): void {
  printNotice(`longhaul: attempt ${attempt} of job ${id} has no output`);
}

async function printAll(args: Args, target: Target, log: LogRef): Promise<void> {
  const write = printerFor(args);
  for (let from = 0; !outputClosed.aborted; ) {
    const { bytes, to } = await target.files.readLog(log, { from, isRunning: false });
    if (bytes.length === 0 && from === 0) sayNoOutput(log);
    if (bytes.length === 0) return;
    await write(bytes);
    from = to;
  }
}

/** Raw bytes never reach a terminal, even with --raw. */
function printerFor(args: Args): (bytes: Uint8Array) => Promise<void> {
  const { isTerminal } = screenOf();
  if (args.flag('raw') && !isTerminal) return logPrinter(null);
  if (args.flag('raw'))
    printNotice('longhaul: --raw is ignored on a terminal: redirect the output to a file or a pipe');
  return logPrinter(createLogCleaner({ keepsColours: (process.env['NO_COLOR'] ?? '') === '' }));
}

async function search(args: Args, target: Target, log: LogRef): Promise<number> {
  const text = args.text('search') ?? '';
  if (text === '') throw new UsageError('--search needs a non-empty TEXT');
  const query = args.flag('regex') ? { expression: text } : { text };
  const found = await target.files.searchLog(log, query);
  if (found.stopped === 'expression')
    throw new UsageError(`--search ${text}: ${found.message ?? 'invalid regular expression'}`);
  if (args.flag('json')) printJson(found);
  else printMatches(found.matches);
  if (found.stopped !== null)
    printNotice(
      `longhaul: there may be more matches: stopped at the limit of ${found.stopped === 'time' ? 'time' : 'matches'}`,
    );
  return found.matches.length === 0 ? 1 : 0;
}

function printMatches(matches: readonly { readonly line: number; readonly text: string }[]): void {
  const screen = screenOf();
  for (const { line, text } of matches) print(`${paint(screen, 'dim', `${line}:`)} ${plainLine(text)}`);
}
