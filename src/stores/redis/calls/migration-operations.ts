/** The MigrationPort over scripts: rows in bounded batches, each written with its indexes in one step. */

import { sameJson } from '../../../core/input/same-json.ts';
import { byText } from '../../../core/input/text-order.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type {
  IssuedNumbers,
  MigratedDay,
  MigrationBatch,
  MigrationPage,
  MigrationPart,
  MigrationRow,
  MigrationState,
  MigrationValues,
} from '../../../core/ports/migration.ts';
import {
  byBytes,
  canonicalCells,
  closedReason,
  keyOfDay,
  keyOfRecord,
  notMigrationTarget,
  partsOfKey,
  UNMIGRATED_RECORDS,
} from '../../../core/ports/migration.ts';
import type { SeriesPage } from '../../../core/statistics/series.ts';
import { countsText, readCounts, ringSlotOf, SPAN_NAMES, sortedPages } from '../../../core/statistics/series.ts';
import { CELL_KINDS } from '../../../core/statistics/statistics.ts';
import { escapeText, FIELD, PART, SPAN_LETTERS, unescapeText } from '../encoding/layout.ts';
import { movedJobArguments, readMovedJobs } from '../encoding/migrated-job.ts';
import { KIND_LETTERS } from './read-statistics.ts';
import { readRecord } from './record-operations.ts';
import { listOf, type Operation, type ScriptRunner } from './script-runner.ts';

/** The most that one script reads or writes, so that no other call waits long for it. */
const MAX_BYTES = 1_000_000;

type Read = (...args: readonly string[]) => Promise<readonly string[]>;

const readerOver =
  (scripts: ScriptRunner): Read =>
  async (...args) =>
    listOf(await scripts.run('migration-read', args));

const standing: Operation<undefined, MigrationState | null> = async (scripts) =>
  readStanding((await readerOver(scripts)('standing'))[0] ?? '');

const numbers: Operation<undefined, IssuedNumbers> = async (scripts) => {
  const [, seq, token, version] = (await readerOver(scripts)('standing')).map(Number);
  return { seq: seq ?? 0, token: token ?? 0, version: version ?? 0 };
};

interface StateChange {
  readonly next: MigrationState | null;
  readonly before: MigrationState | null;
}

const stand: Operation<StateChange, boolean> = async (scripts, { next, before }) => {
  const known = (await readerOver(scripts)('standing'))[0] ?? '';
  if (!sameJson(readStanding(known), before)) return false;
  const text = next === null ? '' : JSON.stringify(next);
  return (await scripts.run('migration-state', [known, text, closedReason(next) ?? ''])) === 'yes';
};

interface PageRequest {
  readonly part: MigrationPart;
  readonly after: string | null;
  readonly limit: number;
}

const read: Operation<PageRequest, MigrationPage> = (scripts, { part, after, limit }) =>
  READERS[part](readerOver(scripts), after, limit);

const write: Operation<MigrationBatch, void> = async (scripts, batch) => {
  const before = await standing(scripts, undefined);
  if (before?.move !== batch.move) throw notMigrationTarget(batch.move);
  await writeSlices(scripts, batch, before);
};

const clear: Operation<string, void> = async (scripts, move) => {
  let cursor = '0';
  do {
    const next = await scripts.run('migration-clear', [move, cursor, ` ${UNMIGRATED_RECORDS.join(' ')} `]);
    if (next === 'no') throw notMigrationTarget(move);
    cursor = String(next);
  } while (cursor !== '0');
};

export const MIGRATION_OPERATIONS = {
  'migration.standing': standing,
  'migration.numbers': numbers,
  'migration.stand': stand,
  'migration.read': read,
  'migration.write': write,
  'migration.clear': clear,
} as const;

const readStanding = (text: string): MigrationState | null =>
  text === '' ? null : (JSON.parse(text) as MigrationState);

const READERS: {
  readonly [Part in MigrationPart]: (read: Read, after: string | null, limit: number) => Promise<MigrationPage>;
} = {
  records: readRecords,
  queues: readQueues,
  statistics: readDays,
  jobs: async (read, after, limit) => {
    const { last, jobs } = readMovedJobs(await read('jobs', after ?? '-1', String(limit), String(MAX_BYTES)));
    return { rows: jobs.map((value) => ({ key: String(value.job.seq), value })), next: last === '' ? null : last };
  },
};

async function readRecords(read: Read, after: string | null, limit: number): Promise<MigrationPage> {
  const [fromKind, fromKey] = after === null ? ['', ''] : partsOfKey(after);
  const kinds = (await kindsOf(read)).filter((kind) => byBytes(kind, fromKind) >= 0);
  const rows: MigrationRow[] = [];
  for (const kind of kinds) {
    const from = kind === fromKind ? `=${fromKey}` : '';
    const answer = await read('records', kind, from, String(limit - rows.length));
    for (let at = 0; at < answer.length; at += 2) {
      const value = readRecord(kind, answer[at] ?? '', answer[at + 1] ?? '');
      rows.push({ key: keyOfRecord(value), value });
    }
    if (rows.length >= limit) return { rows, next: rows.at(-1)?.key ?? null };
  }
  return { rows, next: null };
}

async function kindsOf(read: Read): Promise<readonly string[]> {
  const kinds = new Set<string>();
  let cursor = '0';
  do {
    const [next = '0', ...found] = await read('kinds', cursor);
    for (const kind of found) kinds.add(kind);
    cursor = next;
  } while (cursor !== '0');
  return [...kinds].filter((kind) => !UNMIGRATED_RECORDS.includes(kind)).sort(byBytes);
}

async function readQueues(read: Read, after: string | null, limit: number): Promise<MigrationPage> {
  const answer = await read('queues', after ?? '', String(limit));
  const rows: MigrationRow<'queues'>[] = [];
  for (let at = 0; at < answer.length; at += 5) {
    const [name = '', turn = '', rateAt = '', turnText = '', pages = ''] = answer.slice(at, at + 5);
    const turns = pairsOf(turnText).map(([key, given]) => [unescapeText(key), Number(given)] as const);
    const sorted = turns.sort(([a], [b]) => byText(a, b));
    const series = sortedPages(pages === '' ? [] : pages.split(PART).map(readPage));
    rows.push({ key: name, value: { name, turn: Number(turn), rateAt: Number(rateAt), turns: sorted, series } });
  }
  return { rows, next: rows.length < limit ? null : (rows.at(-1)?.key ?? null) };
}

function readPage(text: string): SeriesPage {
  const [page = '', counts = ''] = text.slice(1).split(FIELD);
  const span = SPAN_NAMES.find((each) => SPAN_LETTERS[each] === text[0]) ?? 'minute';
  return { span, page: Number(page), counts: readCounts(counts) };
}

function pairsOf(text: string): readonly (readonly [string, string])[] {
  const all = text === '' ? [] : text.split(FIELD);
  return Array.from({ length: all.length / 2 }, (_, at) => [all[2 * at] ?? '', all[2 * at + 1] ?? ''] as const);
}

/** Queue by queue: only those that had a job have statistics. */
async function readDays(read: Read, after: string | null, limit: number): Promise<MigrationPage> {
  const [fromQueue, fromDay] = after === null ? ['', ''] : partsOfKey(after);
  const rows: MigrationRow[] = [];
  let queue: string | null = fromQueue;
  let day = fromDay === '' ? '-1' : fromDay;
  while (queue !== null && rows.length < limit) {
    const days: readonly MigratedDay[] = queue === '' ? [] : await daysOf(read, queue, day, limit - rows.length);
    rows.push(...days.map((value) => ({ key: keyOfDay(value), value })));
    const next: readonly string[] = await read('queues', queue, '1');
    queue = next[0] ?? null;
    day = '-1';
  }
  return { rows, next: rows.length < limit ? null : (rows.at(-1)?.key ?? null) };
}

async function daysOf(read: Read, queue: string, after: string, limit: number): Promise<readonly MigratedDay[]> {
  const answer = await read('statistics', queue, after, String(limit));
  const days = new Map<string, { kind: (typeof CELL_KINDS)[number]; name: string; figures: string }[]>();
  for (let at = 0; at < answer.length; at += 3) {
    const [day = '', named = '', figures = ''] = answer.slice(at, at + 3);
    const kind = CELL_KINDS.find((each) => KIND_LETTERS[each] === named[0]) ?? 'queue';
    const cells = days.get(day) ?? [];
    days.set(day, [...cells, { kind, name: unescapeText(named.slice(1)), figures }]);
  }
  return [...days].map(([day, cells]) => ({ queue, day: Number(day), cells: canonicalCells(cells) }));
}

const WRITERS: { readonly [Part in MigrationPart]: (value: MigrationValues[Part]) => string[] } = {
  records: ({ kind, key, version, expiresAt, updatedAt, value }) => [
    kind,
    key,
    [version, expiresAt ?? '', updatedAt, value].join(FIELD),
  ],
  queues: ({ name, turn, rateAt, turns, series }) => [
    name,
    String(turn),
    String(rateAt),
    turns.map(([key, given]) => `${escapeText(key)}${FIELD}${given}${FIELD}`).join(''),
    series
      .map(({ span, page, counts }) => `${SPAN_LETTERS[span]}${ringSlotOf(span, page)} ${page} ${countsText(counts)}`)
      .join(PART),
  ],
  statistics: ({ queue, day, cells }) =>
    cells.flatMap(({ kind, name, figures }) => {
      const at = figures.indexOf(';');
      const [numbers, buckets] = at < 0 ? [figures, ''] : [figures.slice(0, at), figures.slice(at)];
      return [queue, String(day), KIND_LETTERS[kind] + escapeText(name), numbers, buckets];
    }),
  jobs: movedJobArguments,
};

/** In slices that one script can take; the last one records the progress. */
async function writeSlices(scripts: ScriptRunner, batch: MigrationBatch, before: MigrationState) {
  const { move, part, numbers, done } = batch;
  const write = WRITERS[part] as (value: unknown) => string[];
  const gone = batch.gone.map((key) => [...partsOfKey(key), '']);
  const slices = slicesBySize([...gone, ...batch.rows.map(({ value }) => write(value))]);
  const given = [numbers.seq, numbers.token, numbers.version].map(String);
  for (const [place, slice] of slices.entries()) {
    const isLast = place === slices.length - 1;
    const after = isLast && done !== null ? JSON.stringify({ ...before, done }) : '';
    const answer = await scripts.run('migration-write', [move, after, ...given, part, ...slice]);
    if (answer === 'no') throw notMigrationTarget(move);
    if (answer !== 'ok')
      throw new LonghaulError('store-incompatible', `the store answered ${String(answer)} to a migration`);
  }
}

const MAX_ARGUMENTS = 2_000;

function slicesBySize(items: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const slices: string[][] = [[]];
  let size = 0;
  for (const item of items) {
    const length = item.reduce((sum, word) => sum + word.length, 0);
    const last = slices.at(-1) as string[];
    const isFull = last.length > 0 && (size + length > MAX_BYTES || last.length + item.length > MAX_ARGUMENTS);
    if (isFull) slices.push([...item]);
    else last.push(...item);
    size = isFull ? length : size + length;
  }
  return slices;
}
