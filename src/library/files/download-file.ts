/**
 * Downloads a file of a job over HTTP. After a lost connection the download resumes at the byte that is due.
 *
 * Invariant: a whole download is verified. The last piece is held back until the hash is known to be right.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { FileRange } from './file-place.ts';
import type { HttpCaller, HttpResponse } from './http-caller.ts';

export interface FileDownload {
  /** The job's id. */
  readonly id: string;
  readonly file: Attachment;
  readonly range?: FileRange | undefined;
}

/** How long a node that restarts is asked again, and how many times in a row without a byte. */
const RETRY_MS = 500;
const MAX_STALLED = 20;

export async function* downloadFile(
  caller: HttpCaller,
  { id, file, range = {} }: FileDownload,
): AsyncGenerator<Uint8Array> {
  const end = Math.min(range.end ?? file.size, file.size);
  const hash = (range.start ?? 0) === 0 && end === file.size ? createHash('sha256') : null;
  let at = range.start ?? 0;
  for (let stalled = 0; at < end; ) {
    const from = at;
    try {
      for await (const chunk of await request(caller, { id, file, start: at, end })) {
        at += chunk.length;
        hash?.update(chunk);
        if (at === end && hash !== null) verify(hash.digest('hex'), id, file);
        yield chunk;
      }
    } catch (error) {
      if (!(error instanceof LonghaulError) || error.code !== 'store-unavailable') throw error;
      if (at === from && stalled >= MAX_STALLED) throw error;
      await sleep(RETRY_MS);
    }
    stalled = at > from ? 0 : stalled + 1;
  }
}

interface Part {
  readonly id: string;
  readonly file: Attachment;
  readonly start: number;
  readonly end: number;
}

async function request(caller: HttpCaller, { id, file, start, end }: Part): Promise<HttpResponse['body']> {
  const name = `${encodeURIComponent(id)}/attachments/${encodeURIComponent(file.name)}`;
  const isWhole = start === 0 && end === file.size;
  const headers: Record<string, string> = isWhole ? {} : { range: `bytes=${start}-${end - 1}` };
  const expects = [isWhole ? 200 : 206];
  const response = await caller.call('GET', `/api/jobs/${name}?direction=${file.direction}`, { headers, expects });
  if (response.header('etag') === `"${file.sha256}"`) return response.body;
  throw new LonghaulError('refused', `file ${file.name} of job ${id} was replaced by another attempt`);
}

function verify(sha256: string, id: string, file: Attachment): void {
  if (sha256 === file.sha256) return;
  throw new LonghaulError('data-corrupt', `file ${file.name} of job ${id} arrived with another hash`);
}
