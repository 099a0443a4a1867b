/** Sends an attachment: complete and verified, or a range. */
import type { Attachment } from '../../files/attachments/attachments.ts';
import { contentReply } from '../http/content-reply.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { fileHeaders, notFound } from './file-replies.ts';
import type { ForwardableCall } from './from-other-node.ts';
import { forwardAttachment } from './from-other-node.ts';
import { nodeOf } from './node-of.ts';

export interface FileRequest {
  readonly id: string;
  readonly name: string;
  /** Default: an output, else an input. */
  readonly direction?: Attachment['direction'] | undefined;
}

export async function sendAttachment({ id, name, direction }: FileRequest, call: ForwardableCall): Promise<Reply> {
  const { attachments } = nodeOf(call.context);
  const found = await attachments.get(id, name, direction);
  if (found === null) return notFound(`attachment ${name} of job ${id}`);
  const forwarded = await forwardAttachment(call, id, found);
  if (forwarded !== null) return forwarded;
  return contentReply(call.request, {
    size: found.size,
    etag: `"${found.sha256}"`,
    headers: fileHeaders(found),
    open: async (range) => {
      const reading = await attachments.read(found, range ?? undefined);
      if (reading.ok) return reading.stream;
      throw refuseRequest('data-corrupt', `attachment ${found.name} is not on this node's disk`);
    },
  });
}
