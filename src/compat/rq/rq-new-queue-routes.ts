/** RQ's forms that make a queue. Naming a script is code execution: admin, or the loopback where the door is open. */
import { readFile } from 'node:fs/promises';
import { badInput } from '../../core/ports/errors.ts';
import { checkQueueName } from '../../core/settings/settings-input.ts';
import { readRqConfig } from '../../node/queues/rq-config.ts';
import type { Reply } from '../../server/http/reply.ts';
import type { Call, Route } from '../../server/http/route.ts';
import { route } from '../../server/http/route.ts';
import { createQueue } from '../../server/views/queue-changes.ts';
import { fieldsUnder, parseObject, readRqBody } from './rq-body.ts';
import { inRqWords, seeOther } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

const BODY = { body: 'any', limits: { bodyBytes: 1024 * 1024 } } as const;

export function rqNewQueueRoutes(door: RqCompat): readonly Route[] {
  return [
    route({
      name: 'rq.new_queue.page',
      method: 'GET',
      path: '/new_queue',
      about: 'To the page for people.',
      role: 'open',
      answer: 'none',
      status: 303,
      handle: () => seeOther('/queues'),
    }),
    route({
      name: 'rq.new_queue',
      method: 'POST',
      path: '/new_queue',
      about: 'Makes a queue of a script, from RQ’s form.',
      role: 'operate',
      ...BODY,
      answer: 'none',
      status: 303,
      handle: inRqWords(async (call) => {
        const { json, fields } = await readRqBody(call);
        return make(door, call, json ?? fieldsUnder(fields, 'queue'));
      }),
    }),
    route({
      name: 'rq.new_queue_link',
      method: 'POST',
      path: '/new_queue_link',
      about: 'Makes a queue from a config.json of RQ’s on this machine.',
      role: 'operate',
      ...BODY,
      answer: 'none',
      status: 303,
      handle: inRqWords(async (call) => {
        const { fields } = await readRqBody(call);
        const path = fieldsUnder(fields, 'queue')['json_path'] ?? '';
        if (!door.asOpen(call).may('admin'))
          throw badInput('queue', [{ path: 'json_path', message: 'needs the role admin' }]);
        const text = await readFile(path, 'utf8').catch(() => '');
        return make(door, call, parseObject(text, 'json_path'));
      }),
    }),
  ];
}

async function make(door: RqCompat, call: Call, given: Readonly<Record<string, unknown>>): Promise<Reply> {
  const { name, ...config } = given;
  const queue = checkQueueName(name);
  const { settings } = readRqConfig({ num_workers: '1', ...config });
  await createQueue(door.asOpen(call), queue, settings);
  await call.context.node?.reload();
  return seeOther(`/q/${queue}`, 'queue created - awesome\n');
}
