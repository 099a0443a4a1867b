// Long because one class is the whole attempt; most methods only delegate.
/**
 * Watches one attempt through its files, always from recorded offsets, so that nothing depends on having been there.
 *
 *   poll: has it ended? ──▶ read and deliver reports ──▶ poll the log ──▶ ended: resolve `end`, once
 *
 * Invariant: polls run one after the other, and the check for the end comes before the last read of the reports. If it came
 * after, reports written in between would be lost.
 */
import { realpathSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { LogGaps } from '../log/log-gaps.ts';
import { LogMonitor, type LogState } from '../log/log-monitor.ts';
import { groupMemoryLimit } from '../process-tree/cgroups.ts';
import { findMembers } from '../process-tree/find-members.ts';
import { type ListedProcess, listMembers } from '../process-tree/process-list.ts';
import { bootIdentity, isAlive } from '../process-tree/process-stat.ts';
import { resumeHelpers, withHelpersPaused } from '../process-tree/send-signal.ts';
import { pause, resume, type TerminateResult, terminate } from '../process-tree/terminate.ts';
import { type AnswerPipe, createAnswerPipe } from '../protocol/answer-pipe.ts';
import { type ReportBatch, ReportReader } from '../protocol/report-reader.ts';
import type { Reports } from '../protocol/reports.ts';
import { loadUsage, saveUsage } from './accounting.ts';
import { withdraw } from './adopt.ts';
import type { Attempt, AttemptEnd, AttemptListener, WatchContext } from './attempt.ts';
import { toEnd } from './attempt-end.ts';
import {
  type AttemptFiles,
  type Exit,
  filesOf,
  type PidRecord,
  readExit,
  readIfExists,
  readPid,
} from './attempt-files.ts';
import { FolderWatch } from './folder-watch.ts';
import type { LimitedAttempt } from './memory-watch.ts';
import { PollLoop } from './poll-loop.ts';
import { addSample, NO_USAGE, type Sample, type Usage, withFinalCpu } from './usage.ts';

const DEFAULT_LOG_BYTES = 1024 ** 3;
/** Short attempts end before a watch is of use: the runner process reports when their shim exits. */
const WATCH_AFTER_MS = 100;
/** Slices of 64 KiB. A script that writes more reports than this per poll is read with a delay. */
const SLICES_PER_POLL = 4;
const SAVE_EVERY_MS = 10_000;
/** The shim writes its first line right after it creates the file. */
const PIDS_WAIT_MS = 5_000;
const YOUNG_MS = 2_000;
const UNKNOWN: PidRecord = { boot: '', shim: { pid: 0, start: 0 }, script: null };

/** The limit that no control group enforces. Without a limit the group is not read. */
const watchedMemoryOf = ({ cgroup, maxMemoryBytes }: WatchContext): number | null =>
  maxMemoryBytes !== undefined && groupMemoryLimit(cgroup) === null ? maxMemoryBytes : null;

export class WatchedAttempt implements Attempt, LimitedAttempt {
  readonly folder: string;
  readonly end: Promise<AttemptEnd>;
  readonly known = new Map<number, number>();
  record = UNKNOWN;
  cgroup: string | null;
  readonly logGaps: LogGaps;
  readonly #context: WatchContext;
  readonly #files: AttemptFiles;
  readonly #listener: AttemptListener;
  readonly #reader: ReportReader;
  readonly #monitor: LogMonitor;
  readonly #watch: FolderWatch;
  readonly #polls = new PollLoop(
    () => this.#pollOnce(),
    (error) => this.#context.onTrouble(`polling ${this.folder}`, error),
  );
  readonly #oomKills: number | null;
  readonly #watchedAt = performance.now();
  #realFolder: string | null = null;
  #answers: AnswerPipe | null = null;
  #usage: Usage;
  #savedAt = 0;
  #isOver = false;
  #hasShimExited = false;
  #isStartNotified = false;
  #isTerminated = false;
  #watchedMemoryBytes: number | null;
  #exit: Exit | null = null;
  #resolveEnd!: (end: AttemptEnd) => void;

  constructor(context: WatchContext) {
    const { folder, isAdopted, maxLogBytes = DEFAULT_LOG_BYTES } = context;
    this.folder = folder;
    this.cgroup = context.cgroup;
    this.#context = context;
    this.#files = filesOf(folder);
    this.#listener = context.listener ?? {};
    const deliverFrom = isAdopted ? Number(readIfExists(this.#files.processed) ?? 0) : 0;
    this.#reader = new ReportReader(this.#files.reports, deliverFrom, (act) => this.#withWriterPaused(act));
    this.#monitor = new LogMonitor(this.#files, maxLogBytes, isAdopted ? 0 : Date.now());
    this.logGaps = new LogGaps(folder, this.#monitor);
    this.#usage = isAdopted ? loadUsage(this.#files.usage) : NO_USAGE;
    this.#oomKills = isAdopted ? null : context.countOomKills();
    this.#watchedMemoryBytes = watchedMemoryOf(context);
    this.#watch = new FolderWatch(folder, () => this.poll());
    this.end = new Promise((resolve) => (this.#resolveEnd = resolve));
  }

  get excludedPids(): ReadonlySet<number> {
    return this.#context.excludedPids;
  }

  get realFolder(): string {
    this.#realFolder ??= realpathSync.native(this.folder);
    return this.#realFolder;
  }

  /** The exit status never changes once written. */
  get exit(): Exit | null {
    this.#exit ??= readExit(this.folder);
    return this.#exit;
  }

  isForeignSession(session: number): boolean {
    return this.#context.isForeignSession(session, this);
  }

  /** Only for attempts started here: the file of an adopted attempt may name anything. */
  leads(session: number): boolean {
    if (this.#context.isAdopted || this.#isOver) return false;
    const pids = this.pids;
    return pids !== null && (pids.shim.pid === session || pids.script?.pid === session);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get pids(): PidRecord | null {
    if (this.record.script === null) this.record = readPid(this.folder) ?? this.record;
    return this.record === UNKNOWN ? null : this.record;
  }

  get said(): Reports {
    return this.#reader.said;
  }

  get log(): LogState {
    return this.#monitor.state;
  }

  get usage(): Usage {
    return this.#usage;
  }

  watch(): void {
    if (this.#context.isAdopted && this.#isHere) resumeHelpers(this.record.shim);
    this.#watch.start(this.#context.isAdopted ? 0 : WATCH_AFTER_MS);
  }

  /** Stops watching; `end` never resolves. */
  close(): void {
    this.#isOver = true;
    this.#watch.close();
    this.#answers?.close();
  }

  shimExited(): void {
    this.#hasShimExited = true;
    this.poll();
  }

  poll(): void {
    this.#polls.request();
  }

  answer(text: string): boolean {
    const pids = this.pids;
    if (pids === null || this.#isOver) return false;
    this.#answers ??= createAnswerPipe(pids.shim);
    return this.#answers.answer(text);
  }

  heard(offset: number): void {
    writeFileSync(this.#files.processed, `${offset}`, { mode: 0o600 });
  }

  async terminate(options: { readonly graceMs: number }): Promise<TerminateResult> {
    this.#isTerminated = true;
    if (!(await this.#hasStarted())) return { left: 0, killed: 0, means: [] };
    const answer = await terminate(this, { ...options, isYoung: this.#isYoung });
    if (answer.left === 0) this.#releaseCgroup();
    return answer;
  }

  async pause(): Promise<void> {
    if (this.#isHere) await pause(this);
  }

  async resume(): Promise<void> {
    if (this.#isHere) await resume(this);
  }

  async processes(): Promise<readonly ListedProcess[]> {
    return this.#isHere && !this.#isOver ? listMembers((await findMembers(this)).members) : [];
  }

  addSample(sample: Sample): void {
    this.#usage = addSample(this.#usage, sample);
    if (sample.at - this.#savedAt < SAVE_EVERY_MS) return;
    this.#savedAt = sample.at;
    saveUsage(this.#files.usage, this.#usage);
  }

  get watchedMemoryBytes(): number | null {
    return this.#isOver || this.pids === null ? null : this.#watchedMemoryBytes;
  }

  /** Records the facts before the end, for this runner and for one that adopts the attempt; then kills every process. */
  exceedMemory(usedBytes: number): void {
    const limitBytes = this.#watchedMemoryBytes;
    if (limitBytes === null) return;
    this.#watchedMemoryBytes = null;
    const trouble = (error: unknown) => this.#context.onTrouble(`ending ${this.folder}, which is out of memory`, error);
    try {
      writeFileSync(this.#files.overMemory, `${usedBytes} ${limitBytes}\n`, { mode: 0o600 });
    } catch (error) {
      trouble(error);
    }
    this.terminate({ graceMs: 0 }).catch(trouble);
  }

  /** Returns false when there is nothing to terminate. A shim that has not written its line yet is withdrawn. */
  async #hasStarted(): Promise<boolean> {
    for (const until = performance.now() + PIDS_WAIT_MS; this.pids === null; await sleep(5)) {
      if (this.#isOver || performance.now() > until || withdraw(this.folder)) return false;
    }
    return true;
  }

  #withWriterPaused(act: () => number): number {
    return this.#isHere ? withHelpersPaused(this.record.shim, act) : act();
  }

  /** Too young for pids to have wrapped around since the start. */
  get #isYoung(): boolean {
    return !this.#context.isAdopted && performance.now() - this.#watchedAt < YOUNG_MS;
  }

  get #isHere(): boolean {
    return this.pids?.boot === bootIdentity();
  }

  async #pollOnce(): Promise<void> {
    if (this.#isOver) return;
    const { isOver, exit } = this.#checkEnd();
    if (!isOver) this.#notifyStarted();
    await this.#readReports(isOver);
    if (this.#isOver) return;
    if (this.#monitor.poll(Date.now())) this.#listener.onOutput?.(this.#monitor.state);
    if (isOver) this.#finish(exit);
  }

  #notifyStarted(): void {
    if (this.#isStartNotified || !this.pids?.script) return;
    this.#isStartNotified = true;
    this.#listener.onStarted?.(this.record);
  }

  #checkEnd(): { isOver: boolean; exit: Exit | null } {
    // Processes first, then the file: a dead shim writes nothing more.
    const isGone = this.#hasShimExited || (this.pids !== null && !(this.#isHere && isAlive(this.record.shim)));
    const { exit } = this;
    return { isOver: isGone || exit !== null, exit };
  }

  async #readReports(isOver: boolean): Promise<void> {
    for (let slices = 0; isOver || slices < SLICES_PER_POLL; slices += 1) {
      const batch = this.#reader.read() ?? (isOver ? this.#reader.finish() : null);
      if (batch === null || this.#isOver) return;
      await this.#deliver(batch);
      if (slices % SLICES_PER_POLL === SLICES_PER_POLL - 1) await nextTurn();
    }
  }

  async #deliver(batch: ReportBatch): Promise<void> {
    if (batch.heard.length === 0) return;
    try {
      await this.#listener.onReports?.(batch);
    } catch (error) {
      this.#context.onTrouble(`processing the reports of ${this.folder}`, error);
    }
  }

  #finish(exit: Exit | null): void {
    this.#context.checkDisk(this.logGaps);
    this.close();
    this.#usage = withFinalCpu(this.#usage, exit?.cpuSeconds ?? 0);
    void this.#monitor
      .countRest(Date.now())
      .catch((error: unknown) => this.#context.onTrouble('counting a log', error));
    if (this.#usage.samples.length > 0) this.#saveUsage();
    const observed = { exit, said: this.said, usage: this.#usage, cgroup: this.cgroup };
    this.#resolveEnd(toEnd(this.#files, { ...observed, oomKills: this.#oomKills, isTerminated: this.#isTerminated }));
  }

  /** Never throws: the end of the attempt must be reported. */
  #saveUsage(): void {
    try {
      saveUsage(this.#files.usage, this.#usage);
    } catch (error) {
      this.#context.onTrouble(`saving the usage of ${this.folder}`, error);
    }
  }

  /** Keeps the group while the shim could still move the script into it. */
  #releaseCgroup(): void {
    if (this.cgroup === null || (this.exit === null && isAlive(this.record.shim))) return;
    this.#context.releaseCgroup(this.cgroup);
    this.cgroup = null;
  }
}
