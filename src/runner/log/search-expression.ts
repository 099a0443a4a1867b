/**
 * Tries an extended regular expression on a stream, in a child process: grep with a limit on its memory, its processor
 * time and its output. Nothing of the expression is ever read by a shell.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Bounds, FoundPlaces, LogQuery, Place } from './log-query.ts';
import type { StreamedPiece } from './read-log.ts';

const MEMORY_KB = 512 * 1024;
const CPU_SECONDS = 20;
/** Only numbers are kept of each line that grep says, but it may say long ones. */
const OUTPUT_BYTES = 64 * 1024 * 1024;
const NUMBERS_LENGTH = 40;
const SAID_LENGTH = 500;
const start = `ulimit -v ${MEMORY_KB}; ulimit -t ${CPU_SECONDS}; exec grep "$@"`;

export async function findByExpression(
  pieces: AsyncIterable<StreamedPiece>,
  query: LogQuery & { readonly from: Place },
  bounds: Bounds,
): Promise<FoundPlaces> {
  const options = ['-E', '-a', '-n', '-b', '-o', '-m', `${bounds.limit}`, ...(query.ignoreCase ? ['-i'] : [])];
  const child = spawn('/bin/sh', ['-c', start, 'sh', ...options, '-e', query.expression ?? ''], {
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), Math.max(0, bounds.until - performance.now()));
  const answer = collect(child);
  await feed(child, pieces);
  const { places: found, complaint, code } = await answer;
  const places = found.map((place) => beyond(query.from, place));
  clearTimeout(timer);
  // grep says 1 for nothing found and 2 for trouble; no code at all means that it was killed.
  if (code === null) return { places, stopped: 'time' };
  if (code > 1) return { places, stopped: 'expression', message: complaint };
  return { places, stopped: places.length >= bounds.limit ? 'limit' : null };
}

async function feed(child: ChildProcess, pieces: AsyncIterable<StreamedPiece>): Promise<void> {
  let isOpen = true;
  const { stdin } = child;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  // It has found enough, or was killed.
  stdin?.on('error', () => (isOpen = false));
  for await (const { bytes } of pieces) {
    if (!isOpen || child.exitCode !== null || child.signalCode !== null) break;
    if (stdin?.write(bytes) === false) {
      await Promise.race([new Promise<void>((resolve) => stdin.once('drain', () => resolve())), closed]);
    }
  }
  stdin?.end();
}

/** grep counts from where it began. */
const beyond = (from: Place, { line, offset }: Place): Place => ({
  line: from.line + line - 1,
  offset: from.offset + offset,
});

interface Collected {
  readonly places: Place[];
  readonly complaint: string;
  readonly code: number | null;
}

/** Lines such as `12:3456:what matched`, of which one for each line of the log counts. */
function collect(child: ChildProcess): Promise<Collected> {
  const places: Place[] = [];
  let complaint = '';
  let rest = '';
  let length = 0;
  const take = (line: string) => {
    const match = /^(\d+):(\d+):/.exec(line);
    const number = Number(match?.[1]);
    if (match && places.at(-1)?.line !== number) places.push({ line: number, offset: Number(match[2]) });
  };
  child.stdout?.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > OUTPUT_BYTES) child.kill('SIGKILL');
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = (lines.pop() ?? '').slice(0, NUMBERS_LENGTH);
    for (const line of lines) take(line);
  });
  child.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(0, SAID_LENGTH)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ places, complaint: complaint.trim(), code }));
  });
}
