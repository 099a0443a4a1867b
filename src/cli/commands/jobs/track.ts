/** `longhaul track`: tracks a job or stops tracking it, lists tracked jobs, or follows their changes. */
import { once } from 'node:events';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import { age } from '../../../wire/spans.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, printNotice, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { fullId } from '../../target/job-ids.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { listenForStopOrClosedOutput } from '../../target/stop-signal.ts';
import { labelCell } from './job-summary.ts';

export async function trackJob(args: Args): Promise<number> {
  const [given, ...more] = args.positionals;
  if (more.length > 0) throw args.usageError('too many arguments');
  if (given === undefined && args.flag('off')) throw args.usageError('--off requires ID');
  if (given !== undefined && args.flag('follow'))
    throw args.usageError('-f follows all tracked jobs and takes no ID: track the job first');
  return withTarget(args, async (target) => {
    if (given === undefined) return args.flag('follow') ? follow(args, target) : list(args, target);
    const id = await fullId(target, given);
    const isOff = args.flag('off');
    await setTracked(target, id, isOff);
    if (args.flag('json')) printJson({ id, tracked: !isOff });
    else print(`job ${id}: ${isOff ? 'no longer tracked' : 'tracked'}`);
    return 0;
  });
}

async function setTracked({ longhaul }: Target, id: string, isOff: boolean): Promise<void> {
  const answer = isOff ? await longhaul.untrack(id) : await longhaul.track(id);
  if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
}

async function list(args: Args, { longhaul }: Target): Promise<number> {
  const jobs = await longhaul.tracked();
  const now = Date.now();
  if (args.flag('json')) printJson(jobs);
  else if (jobs.length === 0) printNotice('no job is tracked');
  else {
    const columns = [
      { title: 'ID', isWhole: true, of: ({ id }: (typeof jobs)[number]) => id },
      { title: 'QUEUE', of: ({ job }: (typeof jobs)[number]) => job?.queue ?? '' },
      {
        title: 'STATE',
        isWhole: true,
        of: ({ job }: (typeof jobs)[number]) => (job === null ? 'deleted' : labelCell(job)),
      },
      { title: 'TRACKED', isWhole: true, of: ({ trackedAt }: (typeof jobs)[number]) => age(trackedAt, now) },
    ];
    for (const line of table(columns, jobs, screenOf())) print(line);
  }
  return 0;
}

/** Prints one line a change: the time of receipt, the job, the event, and the new state. */
async function follow(args: Args, { longhaul }: Target): Promise<number> {
  const { signal, release } = listenForStopOrClosedOutput();
  const unsubscribe = await longhaul.followTracked((events) => {
    for (const event of events) printEvent(event, args.flag('json'));
  });
  printNotice('longhaul: following tracked jobs; press Ctrl-C to stop');
  try {
    if (!signal.aborted) await once(signal, 'abort');
    return 0;
  } finally {
    unsubscribe();
    release();
  }
}

function printEvent(event: StoreEvent, isJson: boolean): void {
  const at = new Date().toISOString();
  const { type, id, queue, state } = event;
  if (isJson) print(JSON.stringify({ at, type, id, queue, state }));
  else print([at, id, type, ...(state === null || state === type ? [] : [state])].join('  '));
}
