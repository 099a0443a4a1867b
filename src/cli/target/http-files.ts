/**
 * The files of jobs over the HTTP API of a node. Every call can be repeated, and a log is read from an offset, so a
 * restart of the node between two calls loses nothing.
 */

import { basename } from 'node:path';
import { openContent, type RepeatableContent } from '../../library/files/file-content.ts';
import { countBytes, fileSize, writeAtomically } from '../../library/files/file-transfer.ts';
import type { HttpCaller } from '../../library/files/http-caller.ts';
import { uploadFile } from '../../library/files/upload-file.ts';
import type { LogMatches } from '../../runner/log/log-query.ts';
import type { AttemptEnd, FileInfo, Files, LogRef, OnBytes } from './files.ts';

const CHUNK_BYTES = 1024 * 1024;
const EMPTY = new Uint8Array();

export function openHttpFiles(caller: HttpCaller): Files {
  return {
    async readLog(log, { from }) {
      const range = `bytes=${from}-${from + CHUNK_BYTES - 1}`;
      const response = await caller.call('GET', logPath(log), { headers: { range }, expects: [200, 206, 416] });
      // A server may ignore the range and send the whole log: then the requested part is taken from it.
      const bytes = await response.bytes();
      const chunk = response.status === 416 ? EMPTY : response.status === 200 ? bytes.subarray(from) : bytes;
      const [generation, head] = [response.header('log-generation'), response.header('log-head')].map(Number);
      return { bytes: chunk, to: from + chunk.length, generation: generation || 0, head: head || 0 };
    },
    async tailLog(log, bytes) {
      const headers = { range: `bytes=-${bytes}` };
      const response = await caller.call('GET', logPath(log), { headers, expects: [200, 206, 416] });
      const tail = await response.bytes();
      return response.status === 416 ? EMPTY : tail;
    },
    async searchLog(log, { text, expression }) {
      const query = new URLSearchParams({
        q: expression ?? text ?? '',
        ...(expression !== undefined && { regex: 'true' }),
      });
      return (await (await caller.call('GET', `${logPath(log)}/search?${query.toString()}`)).json()) as LogMatches;
    },
    async endOf({ id, attempt }) {
      const body = await (await caller.call('GET', `${jobPath(id)}/attempts`)).json();
      return endIn(body, attempt);
    },
    list: async (id) => filesIn(await (await caller.call('GET', `${jobPath(id)}/attachments`)).json()),
    put: (id, path, onBytes) => putFile(caller, { id, path, onBytes }),
    async get(id, { name, size }, { path, onBytes }) {
      const response = await caller.call('GET', filePath(id, name));
      await writeAtomically(
        path,
        countBytes(response.body, (done) => onBytes(done, size)),
      );
    },
    close: async () => caller.close(),
  };
}

interface FileToPut {
  readonly id: string;
  readonly path: string;
  readonly onBytes: OnBytes;
}

async function putFile(caller: HttpCaller, { id, path, onBytes }: FileToPut): Promise<FileInfo> {
  await fileSize(path);
  const content = (await openContent(path)) as RepeatableContent;
  return uploadFile(caller, { id, name: basename(path), content, lease: null, onBytes });
}

const jobPath = (id: string): string => `/api/jobs/${encodeURIComponent(id)}`;
const logPath = ({ id, attempt }: LogRef): string => `${jobPath(id)}/attempts/${attempt}/log`;
const filePath = (id: string, name: string): string => `${jobPath(id)}/attachments/${encodeURIComponent(name)}`;

const filesIn = (body: unknown): readonly FileInfo[] => (body as { attachments: readonly FileInfo[] }).attachments;

interface ListedAttempt {
  readonly attempt: number;
  readonly end: AttemptEnd | null;
}

function endIn(body: unknown, attempt: number): AttemptEnd | null {
  const { attempts } = body as { attempts: readonly ListedAttempt[] };
  return attempts.find((each) => each.attempt === attempt)?.end ?? null;
}
