/** The attempts of a job as the API shows them. Types only: the node fills them from the history and its files. */
import type { HistoryEvent } from '../core/job/history.ts';
import type { Phase } from '../core/job/phase.ts';

export interface AttemptView {
  readonly attempt: number;
  readonly worker: string | null;
  readonly claimedAt: number | null;
  /** When the attempt was last resumed after a suspension, else when it was claimed. */
  readonly resumedAt: number | null;
  /** The run time of its ended parts: without the times in which it was suspended. */
  readonly ranMs: number;
  readonly isRunning: boolean;
  /** The history event that ended the attempt, its time and its note. */
  readonly outcome: HistoryEvent | null;
  readonly endedAt: number | null;
  readonly note: string | null;
  /** Null unless a script ran on this node. */
  readonly script: ScriptView | null;
  readonly end: AttemptEndView | null;
  readonly usage: UsageView | null;
  /** The phases that the status texts named, oldest first. */
  readonly phases: readonly Phase[];
  /** Null where this node has no log of the attempt. */
  readonly log: LogView | null;
  readonly logGaps: readonly LogGapView[];
}

/** The script of an attempt: its configured path, the path with links resolved, and its arguments. */
export interface ScriptView {
  readonly script: string;
  readonly realScript: string;
  readonly argv: readonly string[];
  readonly startedAt: number;
  readonly pausedAt: number | null;
  readonly pausedMs: number;
}

/** How the process of an attempt ended, and its totals. */
export interface AttemptEndView {
  readonly endedAt: number;
  readonly wallMs: number;
  /** Null when the shim was lost before it could record an exit status. */
  readonly exit: number | null;
  readonly signal: string | null;
  readonly oom: 'no' | 'limit' | 'likely' | 'unknown';
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
  readonly peakProcesses: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Processes that still run, processes that were killed, how they were found, and a summary for people. */
  readonly stopped: {
    readonly left: number;
    readonly killed: number;
    readonly means: readonly string[];
    readonly words: string;
  };
  /** Null for a process that ended by itself. */
  readonly stop: { readonly askedAt: number; readonly goneAt: number } | null;
  /** Absent when there is none. */
  readonly logGaps?: readonly LogGapView[];
  /** Output files that were not stored. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** Resource usage of an attempt: a thinned-out series, and totals. */
export interface UsageView {
  readonly samples: readonly UsageSample[];
  readonly everyMs: number;
  readonly cpuSeconds: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly peakRssBytes: number;
  readonly peakProcesses: number;
}

export interface UsageSample {
  /** Epoch ms. */
  readonly at: number;
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly processes: number;
}

export interface LogView {
  readonly size: number;
  readonly generation: number;
  /** Bytes of the beginning that remain after the last cut. */
  readonly head: number;
  /** Bytes dropped by all cuts. */
  readonly dropped: number;
}

/** A period in which output was lost, such as on a full disk: output after `offset` may be missing in the log. */
export interface LogGapView {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

/** The node that holds the files of an attempt. */
export interface AttemptHolder {
  readonly id: string;
  /** Null for a node that was forgotten. */
  readonly name: string | null;
  /** When the node went away; null while it is up, or when that is unknown. */
  readonly goneAt: number | null;
}

/** An attempt with its node. `node` is null when no node is known to hold files, or when the store is not shared. */
export type LocatedAttempt = AttemptView & { readonly node: AttemptHolder | null };
