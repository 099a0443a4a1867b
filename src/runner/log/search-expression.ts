/**
 * Searches a stream for an extended regular expression in a child process: grep with limits on memory, CPU time and
 * output. No shell ever interprets the expression.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Bounds, FoundPositions, LinePosition, LogQuery } from './log-query.ts';
import type { StreamedPiece } from './read-log.ts';

const MEMORY_KB = 512 * 1024;
const CPU_SECONDS = 20;
/** Only the numbers of each output line are kept, but grep may print long lines. */
const OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_NUMBERS_LENGTH = 40;
const MAX_STDERR = 500;
const command = `ulimit -v ${MEMORY_KB}; ulimit -t ${CPU_SECONDS}; exec grep "$@"`;

export async function findByExpression(
  pieces: AsyncIterable<StreamedPiece>,
  query: LogQuery & { readonly from: LinePosition },
  bounds: Bounds,
): Promise<FoundPositions> {
  const options = ['-E', '-a', '-n', '-b', '-o', '-m', `${bounds.limit}`, ...(query.ignoreCase ? ['-i'] : [])];
  const child = spawn('/bin/sh', ['-c', command, 'sh', ...options, '-e', query.expression ?? ''], {
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), Math.max(0, bounds.until - performance.now()));
  const answer = collect(child);
  await feed(child, pieces);
  const { places: found, stderr, code } = await answer;
  const places = found.map((place) => absolute(query.from, place));
  clearTimeout(timer);
  // grep exits with 1 for no match and 2 for an error; a missing code means that it was killed.
  if (code === null) return { places, stopped: 'time' };
  if (code > 1) return { places, stopped: 'expression', message: stderr };
  return { places, stopped: places.length >= bounds.limit ? 'limit' : null };
}

async function feed(child: ChildProcess, pieces: AsyncIterable<StreamedPiece>): Promise<void> {
  let isOpen = true;
  const { stdin } = child;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  // grep has found enough, or was killed.
  stdin?.on('error', () => (isOpen = false));
  for await (const { bytes } of pieces) {
    if (!isOpen || child.exitCode !== null || child.signalCode !== null) break;
    if (stdin?.write(bytes) === false) {
      await Promise.race([new Promise<void>((resolve) => stdin.once('drain', () => resolve())), closed]);
    }
  }
  stdin?.end();
}

/** Converts a position of grep, which counts from the start of its input. */
const absolute = (from: LinePosition, { line, offset }: LinePosition): LinePosition => ({
  line: from.line + line - 1,
  offset: from.offset + offset,
});

interface Collected {
  readonly places: LinePosition[];
  readonly stderr: string;
  readonly code: number | null;
}

/** Parses lines such as `12:3456:match`; one match per line of the log counts. */
function collect(child: ChildProcess): Promise<Collected> {
  const places: LinePosition[] = [];
  let stderr = '';
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
    rest = (lines.pop() ?? '').slice(0, MAX_NUMBERS_LENGTH);
    for (const line of lines) take(line);
  });
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(0, MAX_STDERR)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ places, stderr: stderr.trim(), code }));
  });
}
