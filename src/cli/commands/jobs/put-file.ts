/**
 * One file to a job over HTTP. Where a connection was cut, in this call or in one that was killed, it goes on from what the
 * node has of it; then the node is told the hash, so that the rest of one file never ends up behind the beginning of another.
 */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { sha256Of } from '../../../node/backup/copy-file.ts';
import type { FileInfo, OnBytes } from '../../target/files.ts';
import type { HttpAnswer, HttpCaller } from '../../target/http-caller.ts';
import { counted, sizeOfFile } from './whole-file.ts';

export interface FileToPut {
  readonly id: string;
  readonly path: string;
  readonly onBytes: OnBytes;
}

interface Sending extends FileToPut {
  readonly caller: HttpCaller;
  readonly url: string;
  readonly size: number;
}

/** A node that is being started again is waited for so often, so long. */
const AGAIN_MS = 500;
const MOST_LOOKS = 20;
/** Tries in a row that bring nothing across. */
const MOST_FRUITLESS = 2;

export async function putFile(caller: HttpCaller, file: FileToPut): Promise<FileInfo> {
  const size = await sizeOfFile(file.path);
  const url = `/api/jobs/${encodeURIComponent(file.id)}/attachments/${encodeURIComponent(basename(file.path))}`;
  const sending: Sending = { ...file, caller, url, size };
  let offset = await offsetThere(sending);
  for (let fruitless = 0; ; ) {
    try {
      return await put(sending, offset);
    } catch (error) {
      if (!isAway(error)) throw error;
      const next = await offsetAgain(sending, error);
      fruitless = next > offset ? 0 : fruitless + 1;
      if (fruitless >= MOST_FRUITLESS) throw error;
      offset = next;
    }
  }
}

const isAway = (error: unknown): boolean => error instanceof LonghaulError && error.code === 'store-unavailable';

/** How much of a file of this size has come before: all of it is also some of it, as only the hash can tell. */
async function offsetThere({ caller, url, size }: Sending): Promise<number> {
  const answer = await caller.call('HEAD', url, { expects: [200, 404] });
  await answer.bytes();
  const [offset, of] = [answer.header('upload-offset'), answer.header('upload-length')].map(Number);
  return answer.status === 200 && of === size ? (offset ?? 0) : 0;
}

async function offsetAgain(sending: Sending, why: unknown): Promise<number> {
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    await sleep(AGAIN_MS);
    try {
      return await offsetThere(sending);
    } catch (error) {
      if (!isAway(error)) throw error;
    }
  }
  throw why;
}

async function put(sending: Sending, offset: number): Promise<FileInfo> {
  if (offset > 0) {
    const rest = await send(sending, offset, [201, 400, 409]);
    if (rest.status === 201) return (await rest.json()) as FileInfo;
    // What was there is of another file, or somebody else sends it too: from the beginning.
    await rest.bytes();
  }
  return (await (await send(sending, 0, [201])).json()) as FileInfo;
}

async function send(
  { caller, url, path, size, onBytes }: Sending,
  offset: number,
  expects: readonly number[],
): Promise<HttpAnswer> {
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': String(size - offset),
    ...(offset > 0 && {
      'upload-offset': String(offset),
      'upload-length': String(size),
      'x-content-sha256': await sha256Of(path),
    }),
  };
  const bytes = offset < size || size === 0 ? createReadStream(path, { start: offset }) : nothing();
  const body = counted(bytes, (done) => onBytes(offset + done, size));
  return caller.call('PUT', url, { headers, body, expects });
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
