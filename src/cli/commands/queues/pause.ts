/** `longhaul pause` and `longhaul resume`: a queue, all queues, or one running job. */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { print, printJson } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { checkQueueIsKnown, knownQueues } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';

export async function pause(call: Call): Promise<number> {
  return change(call, { isPause: true, note: call.text('note') ?? null });
}

export async function resume(call: Call): Promise<number> {
  return change(call, { isPause: false, note: null });
}

interface Wish {
  readonly isPause: boolean;
  readonly note: string | null;
}

async function change(call: Call, wish: Wish): Promise<number> {
  const [name, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  return withTarget(call, async (target) => {
    const queues = await knownQueues(target);
    if (name !== undefined && !queues.includes(name)) return changeJob(call, target, { id: name, wish });
    const chosen = name === undefined ? queues : [name];
    for (const queue of chosen) await changeQueue(target, queue, wish);
    if (call.flag('json')) printJson(chosen.map((queue) => ({ queue, state: wish.isPause ? 'paused' : 'up' })));
    else for (const queue of chosen) print(`queue ${queue}: ${wish.isPause ? 'paused' : 'goes on'}`);
    return 0;
  });
}

export async function changeQueue({ longhaul }: Target, queue: string, { isPause, note }: Wish): Promise<void> {
  if (isPause) await longhaul.queue(queue).pause(note);
  else await longhaul.queue(queue).resume();
}

async function changeJob(call: Call, target: Target, { id, wish }: { id: string; wish: Wish }): Promise<number> {
  const job = await target.longhaul.find(id);
  // Most who name something that is not there meant a queue.
  if (job === null) await checkQueueIsKnown(target, id, ', and no job of that id');
  if (wish.note !== null) throw call.wrong('--note is for queues');
  const answer = await target.longhaul.change(id, { pause: wish.isPause });
  if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message);
  if (call.flag('json')) printJson({ id, paused: wish.isPause });
  else print(`job ${id}: asked to ${wish.isPause ? 'stand still' : 'go on'}`);
  return 0;
}
