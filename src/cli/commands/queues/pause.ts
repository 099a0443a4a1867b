/** `longhaul pause` and `longhaul resume`: for a queue, all queues, or one running job. */
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { print, printJson } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { fullId } from '../../target/job-ids.ts';
import { knownQueues, requireQueue } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';

export async function pause(args: Args): Promise<number> {
  return change(args, { isPause: true, note: args.text('note') ?? null });
}

export async function resume(args: Args): Promise<number> {
  return change(args, { isPause: false, note: null });
}

interface PauseChange {
  readonly isPause: boolean;
  readonly note: string | null;
}

async function change(args: Args, wanted: PauseChange): Promise<number> {
  const [name, ...more] = args.positionals;
  if (more.length > 0) throw args.usageError('too many arguments');
  return withTarget(args, async (target) => {
    const queues = await knownQueues(target);
    if (name !== undefined && !queues.includes(name)) return changeJob(args, target, { given: name, queues, wanted });
    const chosen = name === undefined ? queues : [name];
    for (const queue of chosen) await changeQueue(target, queue, wanted);
    if (args.flag('json')) printJson(chosen.map((queue) => ({ queue, state: wanted.isPause ? 'paused' : 'up' })));
    else for (const queue of chosen) print(`queue ${queue}: ${wanted.isPause ? 'paused' : 'resumed'}`);
    return 0;
  });
}

export async function changeQueue({ longhaul }: Target, queue: string, { isPause, note }: PauseChange): Promise<void> {
  if (isPause) await longhaul.queue(queue).pause(note);
  else await longhaul.queue(queue).resume();
}

async function changeJob(
  args: Args,
  target: Target,
  { given, queues, wanted }: { given: string; queues: readonly string[]; wanted: PauseChange },
): Promise<number> {
  // An unknown name is more often a mistyped queue than a mistyped or shortened job id.
  const id = didYouMean(given, queues) === '' ? await fullId(target, given) : given;
  const job = await target.longhaul.find(id);
  if (job === null) await requireQueue(target, id, ', and no job with this id');
  if (wanted.note !== null) throw args.usageError('--note applies only to queues');
  const answer = await target.longhaul.change(id, { pause: wanted.isPause });
  if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
  if (args.flag('json')) printJson({ id, paused: wanted.isPause });
  else print(`job ${id}: ${wanted.isPause ? 'pause' : 'resume'} requested`);
  return 0;
}
