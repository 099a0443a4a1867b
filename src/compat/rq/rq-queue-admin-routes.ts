/** RQ's URLs that change queues: pause, resume, take down, bring up, restart and delete. */
import { queueName } from '../../core/job/names.ts';
import { homeAt } from '../../node/home.ts';
import { removeRqQueue } from '../../node/queues/rq-queue-files.ts';
import type { Reply } from '../../server/http/reply.ts';
import type { Call, Route } from '../../server/http/route.ts';
import { route } from '../../server/http/route.ts';
import { deleteQueue } from '../../server/views/queue-changes.ts';
import { readRqBody } from './rq-body.ts';
import type { RqOperation } from './rq-markers.ts';
import { rqQueue, rqQueues } from './rq-queues.ts';
import { backOf, fail, inRqWords, seeOther } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

const FORM = { body: 'any', limits: { bodyBytes: 1024 * 1024 }, answer: 'text', status: 303 } as const;
const params = { queue: queueName };
const OPERATIONS: readonly RqOperation[] = ['pause', 'resume', 'down', 'up'];

export function rqQueueAdminRoutes(rq: RqCompat): readonly Route[] {
  return [adminoperRoute(rq), restartRoute(rq), deleteRoute(rq)];
}

function adminoperRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.queue.adminoper',
    method: 'POST',
    path: '/q/{queue}/adminoper',
    about: 'Pauses, resumes, takes down or brings up a queue.',
    role: 'operate',
    params,
    ...FORM,
    handle: inRqWords((call) => adminOperation(rq, call)),
  });
}

function restartRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.queue.restart',
    method: 'POST',
    path: '/q/{queue}/restart',
    about: 'Reads the file and the settings of a queue again. Running scripts are not stopped.',
    role: 'operate',
    params,
    ...FORM,
    handle: inRqWords(async (call) => {
      const { fields } = await readRqBody(call);
      await rqQueue(rq, call.context, queueOf(call));
      await call.context.node?.reload();
      return seeOther(backOf(fields, `/q/${queueOf(call)}`), `${queueOf(call)}\n`);
    }),
  });
}

function deleteRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.queues.delete',
    method: 'POST',
    path: '/delete_queue',
    about: 'Deletes a queue with its messages, unless a script of it runs.',
    role: 'operate',
    ...FORM,
    handle: inRqWords((call) => removeQueue(rq, call)),
  });
}

const queueOf = ({ params: given }: Call): string => (given as { queue: string }).queue;

async function adminOperation(rq: RqCompat, call: Call): Promise<Reply> {
  const { fields } = await readRqBody(call);
  const operation = OPERATIONS.find(
    (each) => each in fields || fields['oper'] === each || fields['adminoper'] === each,
  );
  if (operation === undefined) return fail(`adminoper is one of ${OPERATIONS.join(', ')}`);
  const queue = queueOf(call);
  await rqQueue(rq, call.context, queue);
  await rq.markers.operate(queue, operation);
  return seeOther(backOf(fields, `/q/${queue}`), `${queue}\n`);
}

async function removeQueue(rq: RqCompat, call: Call): Promise<Reply> {
  const name = (await readRqBody(call)).fields['queue_name'] ?? '';
  const open = rq.asOpen(call);
  const { node } = call.context;
  const found = (await rqQueues(rq, call.context)).find((queue) => queue.name === name);
  if (found === undefined) return fail('no such queue', 404);
  if (found.counts.running > 0)
    return fail(`${found.counts.running} messages of ${name} are running: destroy them first`);
  // A queue with a file cannot be deleted: RQ's directory is renamed first, and back if the queue stays.
  const restore = open.may('admin') ? await removeRqQueue(homeAt(rq.root), name) : null;
  await node?.reload();
  try {
    await deleteQueue(open, name, true);
  } catch (error) {
    await restore?.();
    await node?.reload();
    throw error;
  }
  return seeOther('/', 'started deleting queue\n');
}
