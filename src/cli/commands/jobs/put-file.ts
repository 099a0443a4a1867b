/**
 * Uploads one file to a job over HTTP. After a lost connection, in this process or an earlier one, the upload resumes at
 * the node's offset. A resumed upload sends the hash, so that the parts of two different files are never joined.
 */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { sha256Of } from '../../../node/backup/copy-file.ts';
import type { FileInfo, OnBytes } from '../../target/files.ts';
import type { HttpCaller, HttpResponse } from '../../target/http-caller.ts';
import { countBytes, fileSize } from './file-transfer.ts';

export interface FileToPut {
  readonly id: string;
  readonly path: string;
  readonly onBytes: OnBytes;
}

interface Upload extends FileToPut {
  readonly caller: HttpCaller;
  readonly url: string;
  readonly size: number;
}

/** How often, and how many times, an unavailable node is asked for its offset: it may be restarting. */
const RETRY_MS = 500;
const MAX_RETRIES = 20;
/** The number of tries in a row without progress after which the upload fails. */
const MAX_STALLED = 2;

export async function putFile(caller: HttpCaller, file: FileToPut): Promise<FileInfo> {
  const size = await fileSize(file.path);
  const url = `/api/jobs/${encodeURIComponent(file.id)}/attachments/${encodeURIComponent(basename(file.path))}`;
  const upload: Upload = { ...file, caller, url, size };
  let offset = await readOffset(upload);
  for (let stalled = 0; ; ) {
    try {
      return await put(upload, offset);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const next = await awaitOffset(upload, error);
      stalled = next > offset ? 0 : stalled + 1;
      if (stalled >= MAX_STALLED) throw error;
      offset = next;
    }
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof LonghaulError && error.code === 'store-unavailable';

/** Returns how many bytes the node has of a file of this size. It may be all of them: only the hash tells if it is this file. */
async function readOffset({ caller, url, size }: Upload): Promise<number> {
  const response = await caller.call('HEAD', url, { expects: [200, 404] });
  await response.bytes();
  const [offset, length] = [response.header('upload-offset'), response.header('upload-length')].map(Number);
  return response.status === 200 && length === size ? (offset ?? 0) : 0;
}

async function awaitOffset(upload: Upload, cause: unknown): Promise<number> {
  for (let retries = 0; retries < MAX_RETRIES; retries += 1) {
    await sleep(RETRY_MS);
    try {
      return await readOffset(upload);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }
  throw cause;
}

async function put(upload: Upload, offset: number): Promise<FileInfo> {
  if (offset > 0) {
    const rest = await send(upload, offset, [201, 400, 409]);
    if (rest.status === 201) return (await rest.json()) as FileInfo;
    // The stored part belongs to another file, or another client uploads it too: restart from the beginning.
    await rest.bytes();
  }
  return (await (await send(upload, 0, [201])).json()) as FileInfo;
}

async function send(
  { caller, url, path, size, onBytes }: Upload,
  offset: number,
  expects: readonly number[],
): Promise<HttpResponse> {
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': String(size - offset),
    ...(offset > 0 && {
      'upload-offset': String(offset),
      'upload-length': String(size),
      'x-content-sha256': await sha256Of(path),
    }),
  };
  const bytes = offset < size || size === 0 ? createReadStream(path, { start: offset }) : emptyBody();
  const body = countBytes(bytes, (done) => onBytes(offset + done, size));
  return caller.call('PUT', url, { headers, body, expects });
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
