/**
 * An attempt as whoever runs it sees it: what it says, what it prints, what it uses, how it ends, and how to end it.
 * The contract alone; `watched-attempt.ts` does it.
 */

import type { OnDisk } from '../log/disk-watch.ts';
import type { LogGaps } from '../log/log-gaps.ts';
import type { LogState } from '../log/log-monitor.ts';
import type { ListedProcess } from '../process-tree/process-list.ts';
import type { Terminated } from '../process-tree/terminate.ts';
import type { SaidBatch } from '../protocol/report-reader.ts';
import type { Said } from '../protocol/reports.ts';
import type { Exit, PidRecord } from './attempt-files.ts';
import type { Usage } from './usage.ts';

export interface AttemptListener {
  /** The script's own process is known. Not called for one that was over before anybody looked. */
  onStarted?(record: PidRecord): void;
  /** Awaited before the next batch is read, and before the end. */
  onSaid?(batch: SaidBatch): void | Promise<void>;
  /** The log has grown, or was cut. */
  onOutput?(log: LogState): void;
}

export interface WatchOptions {
  readonly listener?: AttemptListener;
  /** Where the log is cut. Default 1 GB. */
  readonly maxLogBytes?: number;
}

/** What watching an attempt needs: which one it is, and the functions that serve all attempts at once. */
export interface WatchContext extends WatchOptions {
  readonly folder: string;
  /** Whether there is anything to be taken up from an earlier watch. */
  readonly isAdopted: boolean;
  readonly spared: ReadonlySet<number>;
  readonly cgroup: string | null;
  /** Whether another attempt that was begun here leads that session, itself or through its shim. */
  isElsewhere(session: number, asking: Attempt): boolean;
  /** How often the kernel ran out of memory so far, give or take a second. */
  countOomKills(): number | null;
  /** Reads the free space of an attempt's disk now. */
  lookAtDisk(log: OnDisk): void;
  /** Nothing of it is left in its control group. */
  releaseCgroup(path: string): void;
  onTrouble(what: string, error: unknown): void;
}

export interface Attempt {
  readonly folder: string;
  /** Null until the shim has written it, a few ms after the start. */
  readonly pids: PidRecord | null;
  readonly said: Said;
  readonly log: LogState;
  /** Stretches in which the disk was full, so that output may be missing. */
  readonly logGaps: Pick<LogGaps, 'all' | 'mark'>;
  readonly usage: Usage;
  /** Resolved once: when the script is over and all it said was passed on. What it left behind may still run. */
  readonly end: Promise<AttemptEnd>;
  /** A line to the script's fd 4. False when it cannot be delivered. Never blocks. */
  answer(text: string): boolean;
  /** Everything said before this offset has been acted upon, and is not passed on again after an adoption. */
  heard(offset: number): void;
  /** Ends everything that belongs to the attempt, also after its end. */
  terminate(options: { readonly graceMs: number }): Promise<Terminated>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Those that belong to it now, as a stop would find them. */
  processes(): Promise<readonly ListedProcess[]>;
}

/** Whether the kernel killed it because memory ran out: `likely` when it did kill something meanwhile. */
export type Oom = 'no' | 'likely' | 'unknown';

export interface AttemptEnd {
  /** Null when the shim was killed before it could write how the script ended, or the machine was. */
  readonly exit: Exit | null;
  readonly said: Said;
  readonly usage: Usage;
  readonly oom: Oom;
  /** The deadline passed, and the watch over it ended the attempt. */
  readonly isOverdue: boolean;
  /** Epoch ms, by the times of the shim's files; now, where there is no file to tell. */
  readonly startedAt: number;
  readonly endedAt: number;
}
