/**
 * RQ's HTTP interface at its own addresses, over the same store, files, guards and roles as everything. The pages at
 * those addresses are the web page.
 */
import type { Job } from '../../core/job.ts';
import { messageOf } from '../../node/rq-view.ts';
import type { ServerContext } from '../../server/context.ts';
import type { Call, Route } from '../../server/route.ts';
import { rqAttachmentRoutes } from './rq-attachment-routes.ts';
import { rqMessageRoutes } from './rq-message-routes.ts';
import { rqNewQueueRoutes } from './rq-new-queue-routes.ts';
import { rqQueueRoutes } from './rq-queue-routes.ts';

export interface RqDoorOptions {
  /** The node's base address, with a slash at its end. */
  readonly url: string;
  /** RQ's own openness: whoever comes over the loopback may name scripts. */
  readonly isOpen: boolean;
  readonly startedAt: number;
  /** production, development, test, stage. */
  readonly environment: string;
}

export interface RqDoor extends RqDoorOptions {
  /** The id of a message as others know it: its address. */
  fullId(job: { readonly queue: string; readonly id: string }): string;
  message(context: ServerContext, job: Job): Promise<object>;
  /** The same call, admin where this door is open to the loopback. */
  asOpen(call: Call): Call;
}

export function rqRoutes(options: RqDoorOptions): readonly Route[] {
  const door: RqDoor = {
    ...options,
    fullId: ({ queue, id }) => `${options.url}q/${queue}/${id}`,
    message: (context, job) => fullMessage(options, context, job),
    asOpen: (call) => (options.isOpen && call.who.actor === 'loopback' ? { ...call, may: () => true } : call),
  };
  return [...rqQueueRoutes(door), ...rqNewQueueRoutes(door), ...rqMessageRoutes(door), ...rqAttachmentRoutes(door)];
}

async function fullMessage({ url }: RqDoorOptions, { node }: ServerContext, job: Job): Promise<object> {
  const files = (await node?.attachments.list(job.id)) ?? [];
  const path = `${url}q/${job.queue}/${job.id}`;
  const attachments: Record<string, object> = {};
  for (const { name, size, sha256 } of files) {
    attachments[name] = { md5: await node?.md5(sha256), size, path: `${path}/attach/${encodeURIComponent(name)}` };
  }
  return messageOf(job, { path, attachments });
}
