/**
 * Searches a whole log, also while it is written: for a fixed text or an extended regular expression.
 *
 * Memory is bounded whatever the log contains. An expression runs in a child process with its own limits
 * (search-expression.ts): in this process a bad one would block everything. The search sees masked secrets, so a secret
 * cannot be found by guessing.
 */
import type { Bounds, FoundPositions, LinePosition, LogMatch, LogMatches, LogQuery } from './log-query.ts';
import { type OpenLog, readLog, streamLog, withLog } from './read-log.ts';
import { createRedactor } from './redact.ts';
import { findByExpression } from './search-expression.ts';

export const MAX_MATCHES = 1_000;
const DEFAULT_TIMEOUT_MS = 10_000;
const AROUND_BYTES = 300;
const newline = 0x0a;

export async function searchLog(folder: string, query: LogQuery): Promise<LogMatches> {
  const limit = Math.min(query.limit ?? 100, MAX_MATCHES);
  const bounds = { limit, until: performance.now() + (query.timeoutMs ?? DEFAULT_TIMEOUT_MS) };
  const found = await withLog(folder, (log) => find(log, query, bounds));
  const matches: LogMatch[] = [];
  for (const place of found.places) matches.push({ ...place, text: await excerpt(folder, place.offset, query) });
  return { matches, stopped: found.stopped, message: found.message ?? null };
}

async function find(log: OpenLog, query: LogQuery, bounds: Bounds): Promise<FoundPositions> {
  const { from = { line: 1, offset: 0 } } = query;
  const pieces = streamLog(log, createRedactor(query.secrets ?? []), from.offset);
  if (query.expression !== undefined) return await findByExpression(pieces, { ...query, from }, bounds);
  if (query.ignoreCase !== true)
    return await findText(pieces, Buffer.from(query.text ?? ''), { ...bounds, line: from.line });
  const expression = (query.text ?? '').replaceAll(/[[\]{}()*+?.\\^$|]/g, '\\$&');
  return await findByExpression(pieces, { ...query, from, expression }, bounds);
}

async function findText(
  pieces: ReturnType<typeof streamLog>,
  needle: Buffer,
  bounds: Bounds & { readonly line: number },
): Promise<FoundPositions> {
  const places: LinePosition[] = [];
  if (needle.length === 0) return { places, stopped: null };
  let { line } = bounds;
  let tail = Buffer.alloc(0);
  let found = -1;
  for await (const { bytes, offset } of pieces) {
    // The end of the previous part is included, for a match that begins there.
    const window = Buffer.concat([tail, bytes]);
    const first = offset - tail.length;
    let counted = 0;
    for (let at = window.indexOf(needle); at >= 0; at = window.indexOf(needle, at + 1)) {
      line += countLines(window, counted, at);
      counted = at;
      if (line === found) continue;
      found = line;
      places.push({ line, offset: first + at });
      if (places.length === bounds.limit) return { places, stopped: 'limit' };
    }
    const kept = Math.min(needle.length - 1, window.length);
    line += countLines(window, counted, window.length - kept);
    tail = Buffer.from(window.subarray(window.length - kept));
    if (performance.now() > bounds.until) return { places, stopped: 'time' };
  }
  return { places, stopped: null };
}

function countLines(bytes: Buffer, from: number, to: number): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline, from); at >= 0 && at < to; at = bytes.indexOf(newline, at + 1)) lines += 1;
  return lines;
}

/** Returns the line around an offset, limited to some bytes before and after. */
async function excerpt(folder: string, offset: number, { secrets = [] }: LogQuery): Promise<string> {
  const from = Math.max(0, offset - AROUND_BYTES);
  const piece = await readLog(folder, { from, maxBytes: 2 * AROUND_BYTES }, { secrets });
  const at = offset - from;
  const start = piece.bytes.lastIndexOf(newline, Math.max(0, at - 1)) + 1;
  const end = piece.bytes.indexOf(newline, at);
  return piece.bytes.toString('utf8', at === 0 ? 0 : start, end < 0 ? piece.bytes.length : end);
}
