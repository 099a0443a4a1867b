/**
 * The files of jobs over a node's HTTP: its socket, or its address with a token. Every call can be repeated, and a log
 * is read from an offset, so that a node that is restarted in between costs nothing but time.
 */
import type { LogMatches } from '../../runner/log/log-query.ts';
import { putFile } from '../commands/jobs/put-file.ts';
import { counted, writeWhole } from '../commands/jobs/whole-file.ts';
import type { AttemptEnd, FileInfo, Files, LogPlace } from './files.ts';
import type { HttpCaller } from './http-caller.ts';

const MOST_BYTES = 1024 * 1024;
const NOTHING = new Uint8Array();

export function openHttpFiles(caller: HttpCaller): Files {
  return {
    async readLog(place, { from }) {
      const range = `bytes=${from}-${from + MOST_BYTES - 1}`;
      const answer = await caller.call('GET', logPath(place), { headers: { range }, expects: [200, 206, 416] });
      // Of a server that sends the whole instead of the range, the part that was asked for.
      const bytes = await answer.bytes();
      const piece = answer.status === 416 ? NOTHING : answer.status === 200 ? bytes.subarray(from) : bytes;
      const [generation, head] = [answer.header('log-generation'), answer.header('log-head')].map(Number);
      return { bytes: piece, to: from + piece.length, generation: generation || 0, head: head || 0 };
    },
    async tailLog(place, bytes) {
      const headers = { range: `bytes=-${bytes}` };
      const answer = await caller.call('GET', logPath(place), { headers, expects: [200, 206, 416] });
      const found = await answer.bytes();
      return answer.status === 416 ? NOTHING : found;
    },
    async searchLog(place, { text, expression }) {
      const query = new URLSearchParams({
        q: expression ?? text ?? '',
        ...(expression !== undefined && { regex: 'true' }),
      });
      return (await (await caller.call('GET', `${logPath(place)}/search?${query.toString()}`)).json()) as LogMatches;
    },
    async endOf({ id, attempt }) {
      const answer = await (await caller.call('GET', `${jobPath(id)}/attempts`)).json();
      return endIn(answer, attempt);
    },
    list: async (id) => filesIn(await (await caller.call('GET', `${jobPath(id)}/attachments`)).json()),
    put: (id, path, onBytes) => putFile(caller, { id, path, onBytes }),
    async get(id, { name, size }, { path, onBytes }) {
      const answer = await caller.call('GET', filePath(id, name));
      await writeWhole(
        path,
        counted(answer.body, (done) => onBytes(done, size)),
      );
    },
    close: async () => caller.close(),
  };
}

const jobPath = (id: string): string => `/api/jobs/${encodeURIComponent(id)}`;
const logPath = ({ id, attempt }: LogPlace): string => `${jobPath(id)}/attempts/${attempt}/log`;
const filePath = (id: string, name: string): string => `${jobPath(id)}/attachments/${encodeURIComponent(name)}`;

const filesIn = (answer: unknown): readonly FileInfo[] => (answer as { attachments: readonly FileInfo[] }).attachments;

interface ListedAttempt {
  readonly attempt: number;
  readonly end: AttemptEnd | null;
}

function endIn(answer: unknown, attempt: number): AttemptEnd | null {
  const { attempts } = answer as { attempts: readonly ListedAttempt[] };
  return attempts.find((each) => each.attempt === attempt)?.end ?? null;
}
