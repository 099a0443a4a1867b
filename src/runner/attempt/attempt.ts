/**
 * An attempt as its supervisor sees it: reports, output, usage, end, and the calls that stop it. The contract alone;
 * `watched-attempt.ts` implements it.
 */

import type { DiskObserver } from '../log/disk-watch.ts';
import type { LogGaps } from '../log/log-gaps.ts';
import type { LogState } from '../log/log-monitor.ts';
import type { ListedProcess } from '../process-tree/process-list.ts';
import type { TerminateResult } from '../process-tree/terminate.ts';
import type { ReportBatch } from '../protocol/report-reader.ts';
import type { Reports } from '../protocol/reports.ts';
import type { Exit, PidRecord } from './attempt-files.ts';
import type { Usage } from './usage.ts';

export interface AttemptListener {
  /** Called when the process of the script is known. Not called for an attempt that ended before the first poll. */
  onStarted?(record: PidRecord): void;
  /** Called with new reports. The returned promise is awaited before the next batch is read, and before the end. */
  onReports?(batch: ReportBatch): void | Promise<void>;
  /** Called when the log has grown or was cut. */
  onOutput?(log: LogState): void;
}

export interface WatchOptions {
  readonly listener?: AttemptListener;
  /** The size at which the log is cut. Default 1 GB. */
  readonly maxLogBytes?: number;
  /** The memory that all processes of the attempt may use together. Default: no limit. */
  readonly maxMemoryBytes?: number;
}

/** What a watched attempt needs: its identity, and the functions that serve all attempts at once. */
export interface WatchContext extends WatchOptions {
  readonly folder: string;
  /** True when an earlier runner may have left state to continue from. */
  readonly isAdopted: boolean;
  /** Pids of Longhaul itself. */
  readonly excludedPids: ReadonlySet<number>;
  readonly cgroup: string | null;
  /** Reports whether a session belongs to another attempt that this runner started, or to its shim. */
  isForeignSession(session: number, asking: Attempt): boolean;
  /** Returns the OOM kills of the kernel so far, at most about a second old. */
  countOomKills(): number | null;
  /** Reads the free space on the disk of an attempt now. */
  checkDisk(log: DiskObserver): void;
  /** Called when no process is left in the control group. */
  releaseCgroup(path: string): void;
  onTrouble(what: string, error: unknown): void;
}

export interface Attempt {
  readonly folder: string;
  /** The processes of the attempt; null until the shim has written them, a few ms after the start. */
  readonly pids: PidRecord | null;
  /** What the script has reported on fd 3 so far. */
  readonly said: Reports;
  readonly log: LogState;
  /** Periods in which the disk was full, so output may be missing. */
  readonly logGaps: Pick<LogGaps, 'all' | 'mark'>;
  readonly usage: Usage;
  /**
   * Resolves once, when the script has ended and all its reports were delivered. Processes that it left behind may
   * still run.
   */
  readonly end: Promise<AttemptEnd>;
  /** Writes a line to fd 4 of the script. Returns false when it cannot be delivered. Never blocks. */
  answer(text: string): boolean;
  /** Records that all reports before this offset were processed, so that an adopter does not deliver them again. */
  heard(offset: number): void;
  /** Terminates every process that belongs to the attempt, also after its end. */
  terminate(options: { readonly graceMs: number }): Promise<TerminateResult>;
  /** Stops every process of the attempt with SIGSTOP. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Lists the processes that belong to the attempt now, as `terminate` would find them. */
  processes(): Promise<readonly ListedProcess[]>;
}

/**
 * Whether the script ended because memory ran out: `limit` when its own limit was exceeded, `likely` when the kernel
 * killed it and its OOM count grew meanwhile.
 */
export type Oom = 'no' | 'limit' | 'likely' | 'unknown';

/** The memory of an attempt that exceeded its limit. */
export interface OverMemory {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

export interface AttemptEnd {
  /** Null when the shim or the machine died before the exit status was written. */
  readonly exit: Exit | null;
  readonly said: Reports;
  readonly usage: Usage;
  readonly oom: Oom;
  /** Set when `oom` is `limit`. */
  readonly overMemory: OverMemory | null;
  /** The deadline passed, and deadline.sh ended the attempt. */
  readonly isOverdue: boolean;
  /** Epoch ms, from the times of the shim's files; the current time where a file is missing. */
  readonly startedAt: number;
  readonly endedAt: number;
}
