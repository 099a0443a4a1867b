/**
 * The attachments of a job: resumable uploads with hash verification, and downloads with ranges.
 *
 * Files are streamed and never held in memory. They are served as downloads, never as pages, whatever their name.
 */
import { fields, integer, listOf, oneOf, text } from '../../core/input/check.ts';
import { jobId } from '../../core/job/names.ts';
import { attachedName, sentName } from '../../files/attachments/file-upload.ts';
import { refusedReply, refuseRequest } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { json } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { uploadHeaders } from '../http/upload-headers.ts';
import { fileHeaders, notFound, progress, refusedUpload } from '../views/file-replies.ts';
import { nodeOf } from '../views/node-of.ts';
import { sendAttachment } from '../views/send-attachment.ts';

const PATH = '/api/jobs/{id}/attachments/{name}';
const MAX_BYTES = 10 * 1024 ** 3;
const MAX_LISTED = 2_000;
const ACCEPTED = 202;
const CREATED = 201;

const direction = oneOf('in', 'out');
const attachment = fields({
  name: text({ max: 4_096 }),
  sha256: text({ max: 64 }),
  size: integer(0, Number.MAX_SAFE_INTEGER),
  direction,
});

interface FileParams {
  readonly id: string;
  readonly name: string;
}

export const attachmentRoutes: readonly Route[] = [
  route({
    name: 'attachments.list',
    method: 'GET',
    path: '/api/jobs/{id}/attachments',
    about: 'Lists the attachments of a job: input (in) and output of its attempts (out).',
    role: 'read',
    params: { id: jobId },
    answer: fields({ attachments: listOf(attachment, MAX_LISTED) }),
    handle: (call) => list(call),
  }),
  route({
    name: 'attachments.get',
    method: 'GET',
    path: PATH,
    about: 'Downloads an attachment, complete (and verified) or a Range. Output has precedence over input.',
    role: 'read',
    params: { id: jobId, name: attachedName },
    query: { direction },
    answer: 'bytes',
    nodes: true,
    handle: (call) => sendAttachment({ ...call.params, direction: call.query.direction }, call),
  }),
  route({
    name: 'attachments.head',
    method: 'HEAD',
    path: PATH,
    relay: true,
    about: 'Returns the state of an upload: Upload-Offset, and Upload-Length if known.',
    role: 'read',
    params: { id: jobId, name: attachedName },
    answer: 'none',
    handle: (call) => head(call),
  }),
  route({
    name: 'attachments.put',
    method: 'PUT',
    path: PATH,
    about:
      'Uploads a file to a draft, or an output with the Lease-Token of a running job. Upload-Offset resumes an upload, Upload-Length gives the total size of a partial one, X-Content-Sha256 or Repr-Digest is verified.',
    role: 'submit',
    relay: true,
    params: { id: jobId, name: sentName },
    body: 'bytes',
    answer: attachment,
    limits: { bodyBytes: MAX_BYTES },
    handle: (call) => put(call),
  }),
  route({
    name: 'attachments.delete',
    method: 'DELETE',
    path: PATH,
    about: 'Deletes an attachment of a draft, or an incomplete upload.',
    role: 'submit',
    params: { id: jobId, name: attachedName },
    answer: 'none',
    status: 204,
    handle: (call) => remove(call),
  }),
];

async function list({ params, context }: Call<{ readonly id: string }>): Promise<Reply> {
  const [job] = await context.store.jobs.find([params.id]);
  if (job === null || job === undefined) return notFound(`job ${params.id}`);
  return json({ attachments: await nodeOf(context).attachments.list(params.id) });
}

async function head({ params, context }: Call<FileParams>): Promise<Reply> {
  const { attachments, uploads } = nodeOf(context);
  const [found, upload] = [await attachments.get(params.id, params.name), await uploads.state(params.id, params.name)];
  if (found === null && upload === null) return notFound(`attachment ${params.name} of job ${params.id}`);
  const { offset, size } = upload ?? { offset: found?.size ?? 0, size: found?.size ?? null };
  const length = { 'content-length': String(found?.size ?? 0), ...(found !== null && fileHeaders(found)) };
  const tag = found === null ? {} : { etag: `"${found.sha256}"`, 'accept-ranges': 'bytes' };
  return { status: 200, headers: { ...length, ...tag, ...progress(offset, size) }, body: { kind: 'none' } };
}

async function put(call: Call<FileParams>): Promise<Reply> {
  const { params, context, request, signal } = call;
  const upload = uploadHeaders(request);
  if (upload.lease !== null && !call.may('operate'))
    throw refuseRequest('forbidden', 'uploading outputs requires the role operate');
  const bytes = call.bytes();
  try {
    const file = { ...params, ...upload, signal, now: context.now(), source: () => bytes };
    const answer = await nodeOf(context).uploads.put(file);
    if (!answer.ok) return refusedUpload(answer);
    if (answer.attachment === null)
      return {
        ...json({ offset: answer.offset, size: answer.size }, ACCEPTED),
        headers: progress(answer.offset, answer.size),
      };
    const { size } = answer.attachment;
    return { ...json(answer.attachment, CREATED), headers: progress(size, size) };
  } finally {
    bytes.destroy();
  }
}

async function remove({ params, context }: Call<FileParams>): Promise<Reply> {
  const answer = await nodeOf(context).uploads.remove(params.id, params.name);
  return answer.ok ? { status: 204, body: { kind: 'none' } } : refusedReply(answer.refusal);
}
