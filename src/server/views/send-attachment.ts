/** A file of a job as an answer: whole and checked, or the part that was asked for. */
import type { Attachment } from '../../files/attachments/attachments.ts';
import { contentReply } from '../http/content-reply.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { fileHeaders, notFound } from './file-replies.ts';
import type { Asking } from './from-other-node.ts';
import { attachmentElsewhere } from './from-other-node.ts';
import { nodeOf } from './node-of.ts';

export interface AskedFile {
  readonly id: string;
  readonly name: string;
  /** What was made goes before what was given, where nobody says which. */
  readonly direction?: Attachment['direction'] | undefined;
}

export async function sendAttachment({ id, name, direction }: AskedFile, call: Asking): Promise<Reply> {
  const { attachments } = nodeOf(call.context);
  const found = await attachments.get(id, name, direction);
  if (found === null) return notFound(`attachment ${name} of job ${id}`);
  const elsewhere = await attachmentElsewhere(call, id, found);
  if (elsewhere !== null) return elsewhere;
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
