/** `longhaul track`: marks a job as one to keep an eye on, takes the mark away, lists those that are marked, or follows them. */
import { once } from 'node:events';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import { age } from '../../../wire/spans.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, remark, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { toldToStopPrinting } from '../../target/stop-signal.ts';
import { labelCell } from './job-summary.ts';

export async function trackJob(call: Call): Promise<number> {
  const [id, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  if (id === undefined && call.flag('off')) throw call.wrong('--off needs the job');
  if (id !== undefined && call.flag('follow')) throw call.wrong('-f follows all tracked jobs: mark the job first');
  return withTarget(call, async (target) => {
    if (id === undefined) return call.flag('follow') ? follow(call, target) : list(call, target);
    const isOff = call.flag('off');
    await mark(target, id, isOff);
    if (call.flag('json')) printJson({ id, tracked: !isOff });
    else print(`job ${id}: ${isOff ? 'no longer tracked' : 'tracked'}`);
    return 0;
  });
}

async function mark({ longhaul }: Target, id: string, isOff: boolean): Promise<void> {
  const answer = isOff ? await longhaul.untrack(id) : await longhaul.track(id);
  if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
}

async function list(call: Call, { longhaul }: Target): Promise<number> {
  const jobs = await longhaul.tracked();
  const now = Date.now();
  if (call.flag('json')) printJson(jobs);
  else if (jobs.length === 0) remark('no job is tracked');
  else {
    const columns = [
      { title: 'ID', isWhole: true, of: ({ id }: (typeof jobs)[number]) => id },
      { title: 'QUEUE', of: ({ job }: (typeof jobs)[number]) => job?.queue ?? '' },
      {
        title: 'STATE',
        isWhole: true,
        of: ({ job }: (typeof jobs)[number]) => (job === null ? 'gone' : labelCell(job)),
      },
      { title: 'TRACKED', isWhole: true, of: ({ trackedAt }: (typeof jobs)[number]) => age(trackedAt, now) },
    ];
    for (const line of table(columns, jobs, screenOf())) print(line);
  }
  return 0;
}

/** One line a change: when it was heard of, the job, what happened, and what that makes of it. */
async function follow(call: Call, { longhaul }: Target): Promise<number> {
  const { signal, release } = toldToStopPrinting();
  const unsubscribe = await longhaul.followTracked((events) => {
    for (const event of events) printEvent(event, call.flag('json'));
  });
  remark('longhaul: following tracked jobs; Ctrl-C stops looking');
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
