/**
 * Uploads one file to a job over HTTP. After a lost connection, in this process or an earlier one, the upload resumes at
 * the node's offset. A resumed upload sends the hash, so that the parts of two different files are never joined.
 */
import { createHash, type Hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { RepeatableContent } from './file-content.ts';
import { countBytes } from './file-transfer.ts';
import type { HttpCaller, HttpResponse } from './http-caller.ts';

export interface FileUpload {
  /** The job's id. */
  readonly id: string;
  readonly name: string;
  readonly content: RepeatableContent;
  /** The token of the attempt whose output it is; null for an input of a draft. */
  readonly lease: number | null;
  readonly signal?: AbortSignal;
  onBytes(done: number, size: number): void;
}

interface Upload extends FileUpload {
  readonly caller: HttpCaller;
  readonly url: string;
}

/** How often, and how many times, an unavailable node is asked for its offset: it may be restarting. */
const RETRY_MS = 500;
const MAX_RETRIES = 20;
/** The number of tries in a row without progress after which the upload fails. */
const MAX_STALLED = 2;

export async function uploadFile(caller: HttpCaller, file: FileUpload): Promise<Attachment> {
  const url = `/api/jobs/${encodeURIComponent(file.id)}/attachments/${encodeURIComponent(file.name)}`;
  const upload: Upload = { ...file, caller, url };
  let offset = await readOffset(upload);
  for (let stalled = 0; ; ) {
    try {
      return await put(upload, offset);
    } catch (error) {
      if (!isUnavailable(error) || file.signal?.aborted === true) throw error;
      const next = await awaitOffset(upload, error);
      stalled = next > offset ? 0 : stalled + 1;
      if (stalled >= MAX_STALLED) throw error;
      offset = next;
    }
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof LonghaulError && error.code === 'store-unavailable';

/** Returns how many bytes the node has of a file of this size. It may be all of them: only the hash tells if it is this file. */
async function readOffset({ caller, url, content, signal }: Upload): Promise<number> {
  const response = await caller.call('HEAD', url, { expects: [200, 404], ...(signal && { signal }) });
  await response.bytes();
  const [offset, length] = [response.header('upload-offset'), response.header('upload-length')].map(Number);
  return response.status === 200 && length === content.size ? (offset ?? 0) : 0;
}

async function awaitOffset(upload: Upload, cause: unknown): Promise<number> {
  for (let retries = 0; retries < MAX_RETRIES; retries += 1) {
    await sleep(RETRY_MS, undefined, upload.signal && { signal: upload.signal });
    try {
      return await readOffset(upload);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }
  throw cause;
}

async function put(upload: Upload, offset: number): Promise<Attachment> {
  if (offset > 0) {
    const rest = await send(upload, offset, { expects: [201, 400, 409], sha256: await sha256Of(upload.content) });
    if (rest.status === 201) return (await rest.json()) as Attachment;
    // The stored part belongs to another file, or another client uploads it too: restart from the beginning.
    await rest.bytes();
  }
  const hash = createHash('sha256');
  const response = await send(upload, 0, { expects: [201], hash });
  const attached = (await response.json()) as Attachment;
  if (attached.sha256 === hash.digest('hex')) return attached;
  throw new LonghaulError('data-corrupt', `attachment ${upload.name} arrived at the node with another hash`);
}

interface Sending {
  readonly expects: readonly number[];
  /** The hash of the whole content. */
  readonly sha256?: string;
  /** Gets the bytes that are sent. */
  readonly hash?: Hash;
}

async function send(upload: Upload, offset: number, { expects, sha256, hash }: Sending): Promise<HttpResponse> {
  const { caller, url, content, lease, signal, onBytes } = upload;
  const { size } = content;
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': String(size - offset),
    ...(lease !== null && { 'lease-token': String(lease) }),
    ...(sha256 !== undefined && {
      'upload-offset': String(offset),
      'upload-length': String(size),
      'x-content-sha256': sha256,
    }),
  };
  const bytes = hash === undefined ? content.read(offset) : hashed(content.read(offset), hash);
  const body = countBytes(bytes, (done) => onBytes(offset + done, size));
  return caller.call('PUT', url, { headers, body, expects, ...(signal && { signal }) });
}

async function* hashed(source: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
}

async function sha256Of(content: RepeatableContent): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content.read(0)) hash.update(chunk);
  return hash.digest('hex');
}
