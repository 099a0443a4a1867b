/** The attempts of a job as the API shows them: from the store's history and from this node's files. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HistoryRow } from '../../core/job/history.ts';
import { endRowOf, isStart, shownNote } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';
import type { LogPage, LogStore } from '../../core/ports/log-store.ts';
import { loadUsage } from '../../runner/attempt/accounting.ts';
import { filesOf } from '../../runner/attempt/attempt-files.ts';
import { readLogIndex } from '../../runner/log/log-index.ts';
import { withLog } from '../../runner/log/read-log.ts';
import type { AttemptView, LogView } from '../../wire/attempt-view.ts';
import type { Home } from '../home.ts';
import { attemptFolder, jobFolder } from '../home.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { isEarlierPart, readAttemptRecord } from './attempt-record.ts';

const MAX_ATTEMPTS = 100;

/** What the store knows of the attempts of a job. */
export interface StoredAttempts {
  readonly history: readonly HistoryRow[];
  readonly logs: LogStore;
}

const END = Number.MAX_SAFE_INTEGER;

/** Returns the newest attempts, the newest last. */
export async function viewAttempts(home: Home, job: Job, stored: StoredAttempts): Promise<readonly AttemptView[]> {
  const numbers = new Set([...(await attemptsOnDisk(home, job.id)), ...stored.history.map(({ attempt }) => attempt)]);
  const newest = [...numbers]
    .filter((number) => number > 0)
    .sort((a, b) => a - b)
    .slice(-MAX_ATTEMPTS);
  return Promise.all(newest.map((attempt) => viewAttempt(home, job, { attempt, ...stored })));
}

async function attemptsOnDisk(home: Home, id: string): Promise<readonly number[]> {
  const names = await readdir(join(jobFolder(home, id), 'attempts')).catch(() => []);
  return names.filter((name) => /^[1-9]\d{0,9}$/.test(name)).map(Number);
}

async function viewAttempt(
  home: Home,
  job: Job,
  { attempt, history, logs }: StoredAttempts & { attempt: number },
): Promise<AttemptView> {
  const folder = attemptFolder(home, job.id, attempt);
  const [found, file] = await Promise.all([readAttemptRecord(folder), shapeOf(folder)]);
  const record = found === null || isEarlierPart(found, history) ? null : found;
  const page = file === null && record === null ? await logs.read({ id: job.id, attempt, from: END }) : null;
  return {
    attempt,
    isRunning: job.state === 'running' && job.attempt === attempt,
    ...storedOf(attempt, history),
    script: record === null ? null : scriptIn(record),
    end: record?.end ?? null,
    usage: record === null ? null : loadUsage(filesOf(folder).usage),
    phases: record?.phases ?? [],
    log: file ?? (page === null ? null : shapeIn(page)),
    logGaps: record?.end?.logGaps ?? page?.gaps ?? readLogIndex(filesOf(folder).logIndex).gaps,
  };
}

const scriptIn = ({ script, realScript, argv, startedAt, pausedAt, pausedMs }: AttemptRecord) => ({
  script,
  realScript,
  argv,
  startedAt,
  pausedAt,
  pausedMs,
});

function storedOf(attempt: number, history: readonly HistoryRow[]) {
  const claim = history.findLast((row) => row.event === 'claimed' && row.attempt === attempt);
  const start = history.findLast((row) => isStart(row.event) && row.attempt === attempt);
  const token = start?.token ?? null;
  const ending = token === null ? undefined : endRowOf(history, token);
  return {
    worker: start?.by ?? null,
    claimedAt: claim?.at ?? null,
    resumedAt: start?.at ?? null,
    ranMs: ranMsOf(attempt, history),
    outcome: ending?.event ?? null,
    endedAt: ending?.at ?? null,
    note: ending === undefined ? null : shownNote(ending),
  };
}

/** Adds up the parts of an attempt, each from its claim or resumption to the row that ended it. */
function ranMsOf(attempt: number, history: readonly HistoryRow[]): number {
  const starts = history.filter((row) => isStart(row.event) && row.attempt === attempt);
  return starts.reduce((sum, { at, token }) => {
    const end = token === null ? undefined : endRowOf(history, token);
    return end === undefined ? sum : sum + Math.max(0, end.at - at);
  }, 0);
}

async function shapeOf(folder: string): Promise<LogView | null> {
  return withLog(folder, async ({ file, size, index: { generation, head, dropped } }) =>
    file === null ? null : { size, generation, head, dropped },
  );
}

const shapeIn = ({ size, generation, head, dropped }: LogPage): LogView => ({ size, generation, head, dropped });
