/**
 * RQ's HTTP interface at its own URLs, over the same store, files, guards and roles as the API. The pages at those URLs
 * are the web UI.
 */
import { join } from 'node:path';
import type { Job } from '../../core/job/job.ts';
import { createLayout } from '../../files/blobs/layout.ts';
import { homeAt } from '../../node/home.ts';
import { messageOf } from '../../node/queues/rq-view.ts';
import type { Call, Route } from '../../server/http/route.ts';
import type { ServerContext } from '../../server/views/context.ts';
import { rqAttachmentRoutes } from './rq-attachment-routes.ts';
import { rqFormRoutes } from './rq-form-page.ts';
import type { RqMarkers } from './rq-markers.ts';
import { rqMessageRoutes } from './rq-message-routes.ts';
import { rqNewQueueRoutes } from './rq-new-queue-routes.ts';
import { rqQueueAdminRoutes } from './rq-queue-admin-routes.ts';
import { rqQueueRoutes } from './rq-queue-routes.ts';

export interface RqCompatOptions {
  /** The node's base address, with a slash at its end. */
  readonly url: string;
  /** The data directory. */
  readonly root: string;
  readonly markers: Pick<RqMarkers, 'operate' | 'sync'>;
  /** Opens the sockets of queues that are new. */
  openSockets(): Promise<void>;
  /** Whether callers on the loopback may set scripts, as in RQ. */
  readonly isOpen: boolean;
  readonly startedAt: number;
  /** production, development, test, stage. */
  readonly environment: string;
}

export interface RqCompat extends RqCompatOptions {
  /** Returns the full id of a message: its URL. */
  fullId(job: { readonly queue: string; readonly id: string }): string;
  message(context: ServerContext, job: Job): Promise<object>;
  /** Returns the same call, with the role admin for the loopback if `isOpen`. */
  asOpen(call: Call): Call;
}

export function rqRoutes(options: RqCompatOptions): readonly Route[] {
  const rq: RqCompat = {
    ...options,
    fullId: ({ queue, id }) => `${options.url}q/${queue}/${id}`,
    message: (context, job) => fullMessage(options, context, job),
    asOpen: (call) => (options.isOpen && call.principal.actor === 'loopback' ? { ...call, may: () => true } : call),
  };
  return [
    ...rqQueueRoutes(rq),
    ...rqQueueAdminRoutes(rq),
    ...rqNewQueueRoutes(rq),
    ...rqFormRoutes(rq),
    ...rqMessageRoutes(rq),
    ...rqAttachmentRoutes(rq),
  ];
}

async function fullMessage({ url, root }: RqCompatOptions, { node }: ServerContext, job: Job): Promise<object> {
  const files = (await node?.attachments.list(job.id)) ?? [];
  const { blob } = createLayout(homeAt(root).blobs);
  const attachments: Record<string, object> = {};
  for (const { name, size, sha256 } of files) {
    attachments[name] = { md5: await node?.md5(sha256), size, path: blob(sha256) };
  }
  // Relative to the data directory, as in RQ.
  const path = join('jobs', job.id);
  return { orig_msg_id: `${url}q/${job.queue}/${job.id}`, ...messageOf(job, { url, path, attachments }) };
}
