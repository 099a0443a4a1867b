/** The attempts of a job as the API shows them: from the store's history and from this node's files. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HistoryEvent, HistoryRow } from '../../core/job/history.ts';
import { endingOf, shownNote } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';
import type { Phase } from '../../core/job/phase.ts';
import { loadUsage } from '../../runner/attempt/accounting.ts';
import { filesOf } from '../../runner/attempt/attempt-files.ts';
import type { Usage } from '../../runner/attempt/usage.ts';
import type { LogGap } from '../../runner/log/log-index.ts';
import { readLogIndex } from '../../runner/log/log-index.ts';
import { withLog } from '../../runner/log/read-log.ts';
import type { Home } from '../home.ts';
import { attemptFolder, jobFolder } from '../home.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { readAttemptRecord } from './attempt-record.ts';
import type { LogShape } from './log-position.ts';

export interface AttemptView {
  readonly attempt: number;
  readonly worker: string | null;
  readonly claimedAt: number | null;
  readonly isRunning: boolean;
  /** The history event that ended it, with its time and note. */
  readonly outcome: HistoryEvent | null;
  readonly endedAt: number | null;
  readonly note: string | null;
  /** For a script that ran on this node: the script, its exit and its usage. */
  readonly script: Pick<AttemptRecord, 'script' | 'realScript' | 'argv' | 'startedAt' | 'pausedAt' | 'pausedMs'> | null;
  readonly end: AttemptRecord['end'] | null;
  readonly usage: Usage | null;
  /** Phases from its status texts, in order. */
  readonly phases: readonly Phase[];
  /** Null if this node has no log of it. */
  readonly log: LogShape | null;
  /** Periods in which the disk was full: output after their byte may be missing in the log. */
  readonly logGaps: readonly LogGap[];
}

/** The node that has the files of an attempt. */
export interface AttemptHolder {
  readonly id: string;
  /** Null for a forgotten node. */
  readonly name: string | null;
  /** Since when the node is away; null while it is present, or when this is not known. */
  readonly goneAt: number | null;
}

/** An attempt with its node. `node` is null if no node has files of it, or the store is not shared. */
export type PlacedAttempt = AttemptView & { readonly node: AttemptHolder | null };

const MAX_ATTEMPTS = 100;

/** Returns the newest attempts, the newest last. */
export async function viewAttempts(
  home: Home,
  job: Job,
  history: readonly HistoryRow[],
): Promise<readonly AttemptView[]> {
  const numbers = new Set([...(await attemptsOnDisk(home, job.id)), ...history.map(({ attempt }) => attempt)]);
  const newest = [...numbers]
    .filter((number) => number > 0)
    .sort((a, b) => a - b)
    .slice(-MAX_ATTEMPTS);
  return Promise.all(newest.map((attempt) => viewAttempt(home, job, { attempt, history })));
}

async function attemptsOnDisk(home: Home, id: string): Promise<readonly number[]> {
  const names = await readdir(join(jobFolder(home, id), 'attempts')).catch(() => []);
  return names.filter((name) => /^[1-9]\d{0,9}$/.test(name)).map(Number);
}

async function viewAttempt(
  home: Home,
  job: Job,
  { attempt, history }: { attempt: number; history: readonly HistoryRow[] },
): Promise<AttemptView> {
  const folder = attemptFolder(home, job.id, attempt);
  const [record, log] = await Promise.all([readAttemptRecord(folder), shapeOf(folder)]);
  return {
    attempt,
    isRunning: job.state === 'running' && job.attempt === attempt,
    ...storedOf(attempt, history),
    script: record === null ? null : scriptIn(record),
    end: record?.end ?? null,
    usage: record === null ? null : loadUsage(filesOf(folder).usage),
    phases: record?.phases ?? [],
    log,
    logGaps: record?.end?.logGaps ?? readLogIndex(filesOf(folder).logIndex).gaps,
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
  const token = claim?.token ?? null;
  const ending = token === null ? undefined : endingOf(history, token);
  return {
    worker: claim?.by ?? null,
    claimedAt: claim?.at ?? null,
    outcome: ending?.event ?? null,
    endedAt: ending?.at ?? null,
    note: ending === undefined ? null : shownNote(ending),
  };
}

async function shapeOf(folder: string): Promise<LogShape | null> {
  return withLog(folder, async ({ file, size, index: { generation, head, dropped } }) =>
    file === null ? null : { size, generation, head, dropped },
  );
}
