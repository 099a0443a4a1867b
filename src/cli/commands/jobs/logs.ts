/** `longhaul logs`: what an attempt printed; as it is written with -f, or only what is looked for. */
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { JobView } from '../../../library/index.ts';
import { createLogCleaner, plainLine } from '../../output/clean-text.ts';
import { outputClosed } from '../../output/closed-output.ts';
import { paint, print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { UsageError } from '../../table/command.ts';
import { findJob } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { toldToStopPrinting } from '../../target/stop-signal.ts';
import { followJob, logPrinter } from './follow-log.ts';

const MOST_ATTEMPTS = 1_000_000_000;

export async function logs(call: Call): Promise<number> {
  const id = call.only('ID');
  const attempt = call.number('attempt', [1, MOST_ATTEMPTS]);
  if (call.flag('regex') && call.text('search') === undefined) throw call.wrong('--regex goes with --search');
  if (call.flag('json') && call.text('search') === undefined) throw call.wrong('--json goes with --search');
  return withTarget(call, async (target) => {
    const job = await findJob(target, id);
    if (attempt !== undefined && attempt > job.attempt)
      throw new LonghaulError('refused', `job ${id} has no attempt ${attempt}: ${attemptsOf(job)}`);
    if (call.flag('follow')) return follow(call, target, { id, attempt });
    if (job.attempt === 0)
      throw new LonghaulError('refused', `job ${id} has not begun yet: longhaul logs -f ${id} waits`);
    const place = { id, attempt: attempt ?? job.attempt };
    if (call.text('search') !== undefined) return search(call, target, place);
    await printAll(call, target, place);
    return 0;
  });
}

function attemptsOf({ attempt }: JobView): string {
  return attempt === 0 ? 'it has not begun yet' : `it had ${attempt}`;
}

async function follow(
  call: Call,
  target: Target,
  { id, attempt }: { id: string; attempt: number | undefined },
): Promise<number> {
  const { signal, release } = toldToStopPrinting();
  try {
    const job = await followJob(target, { id, attempt, signal, print: printerFor(call) });
    if (job !== null && job.state !== 'done')
      remark(`longhaul: job ${id} ended ${plainLine(job.label)}: ${plainLine(job.reason)}`);
    return 0;
  } finally {
    release();
  }
}

async function printAll(call: Call, target: Target, place: { id: string; attempt: number }): Promise<void> {
  const write = printerFor(call);
  for (let from = 0; !outputClosed.aborted; ) {
    const { bytes, to } = await target.files.readLog(place, { from, isRunning: false });
    if (bytes.length === 0) return;
    await write(bytes);
    from = to;
  }
}

/** Raw never reaches a terminal, whatever was asked for. */
function printerFor(call: Call): (bytes: Uint8Array) => Promise<void> {
  const { isTerminal } = screenOf();
  if (call.flag('raw') && !isTerminal) return logPrinter(null);
  if (call.flag('raw')) remark('longhaul: --raw is for files and pipes; a terminal gets text and colours');
  return logPrinter(createLogCleaner({ keepsColours: (process.env['NO_COLOR'] ?? '') === '' }));
}

async function search(call: Call, target: Target, place: { id: string; attempt: number }): Promise<number> {
  const words = call.text('search') ?? '';
  if (words === '') throw new UsageError('--search needs a text to look for');
  const query = call.flag('regex') ? { expression: words } : { text: words };
  const found = await target.files.searchLog(place, query);
  if (found.stopped === 'expression') throw new UsageError(`--search ${words}: ${found.message ?? 'is no expression'}`);
  if (call.flag('json')) printJson(found);
  else printMatches(found.matches);
  if (found.stopped !== null)
    remark(`longhaul: there may be more: stopped by its limit of ${found.stopped === 'time' ? 'time' : 'matches'}`);
  return found.matches.length === 0 ? 1 : 0;
}

function printMatches(matches: readonly { readonly line: number; readonly text: string }[]): void {
  const screen = screenOf();
  for (const { line, text } of matches) print(`${paint(screen, 'dim', `${line}:`)} ${plainLine(text)}`);
}
