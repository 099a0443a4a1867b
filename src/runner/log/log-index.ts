/**
 * The index of a log: when it had grown to which byte, and which line begins there. Sparse, and always small.
 *
 * As a file: a line `cut GENERATION HEAD DROPPED` after a cut, then lines `OFFSET LINE TIME`. The generation tells a
 * reader that the content beyond HEAD has changed. Lines count from 1. A line `gap FROM TO OFFSET` marks output that
 * may be missing; of several with the same FROM the last applies.
 */
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { readIfExists } from '../attempt/attempt-files.ts';

export interface IndexEntry {
  readonly offset: number;
  /** The number of the line that contains the byte at `offset`. */
  readonly line: number;
  /** Epoch ms at which the log was seen with that length. */
  readonly at: number;
}

/** A period in which output may have been lost: the disk was full, or a handler wrote faster than its log. */
export interface LogGap {
  /** Epoch ms: the last time with room before the gap, and the first after it. */
  readonly from: number;
  readonly to: number;
  /** Output after this byte may be missing, in offsets of that time. */
  readonly offset: number;
}

export interface LogIndex {
  readonly generation: number;
  /** Bytes kept at the beginning by the last cut, and bytes dropped in total. */
  readonly head: number;
  readonly dropped: number;
  readonly entries: readonly IndexEntry[];
  readonly gaps: readonly LogGap[];
}

export const EMPTY_INDEX: LogIndex = { generation: 0, head: 0, dropped: 0, entries: [], gaps: [] };
export const MAX_ENTRIES = 2_000;

export function parseLogIndex(text: string): LogIndex {
  let index: LogIndex = EMPTY_INDEX;
  const entries: IndexEntry[] = [];
  // The last part is empty, or a line that a crash cut short.
  for (const line of text.split('\n').slice(0, -1)) {
    const [first, ...rest] = line.split(' ');
    if (first === 'cut') index = { ...index, ...cutOf(rest.map(Number)) };
    else if (first === 'gap') index = withGap(index, gapOf(rest.map(Number)));
    else entries.push({ offset: Number(first), line: Number(rest[0]), at: Number(rest[1]) });
  }
  return { ...index, entries };
}

const cutOf = ([generation = 0, head = 0, dropped = 0]: number[]) => ({ generation, head, dropped });

const gapOf = ([from = 0, to = 0, offset = 0]: number[]): LogGap => ({ from, to, offset });

/** Adds a gap, or replaces the gap with the same start, which has grown. */
export function withGap(index: LogIndex, gap: LogGap): LogIndex {
  return { ...index, gaps: [...index.gaps.filter(({ from }) => from !== gap.from), gap] };
}

export function formatLogIndex({ generation, head, dropped, entries, gaps }: LogIndex): string {
  const cut = generation > 0 ? `cut ${generation} ${head} ${dropped}\n` : '';
  return cut + gaps.map(formatGap).join('') + entries.map(formatEntry).join('');
}

const formatGap = ({ from, to, offset }: LogGap): string => `gap ${from} ${to} ${offset}\n`;

const formatEntry = ({ offset, line, at }: IndexEntry): string => `${offset} ${line} ${at}\n`;

export const readLogIndex = (path: string): LogIndex => parseLogIndex(readIfExists(path) ?? '');

/** Returns the last entry at or before a position; the beginning of the log when there is none. */
export function entryBefore({ entries }: LogIndex, isBefore: (entry: IndexEntry) => boolean): IndexEntry {
  return entries.findLast(isBefore) ?? { offset: 0, line: 1, at: 0 };
}

/** Adds an entry. A full index drops every second entry, which halves its density. */
export function addEntry(index: LogIndex, entry: IndexEntry): { index: LogIndex; isThinned: boolean } {
  const isThinned = index.entries.length >= MAX_ENTRIES;
  const kept = isThinned ? index.entries.filter((_, position) => position % 2 === 0) : index.entries;
  return { index: { ...index, entries: [...kept, entry] }, isThinned };
}

export function appendEntry(path: string, entry: IndexEntry): void {
  appendFileSync(path, formatEntry(entry), { mode: 0o600 });
}

export function appendGap(path: string, gap: LogGap): void {
  appendFileSync(path, formatGap(gap), { mode: 0o600 });
}

export function replaceIndex(path: string, index: LogIndex): void {
  writeFileSync(`${path}.new`, formatLogIndex(index), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
