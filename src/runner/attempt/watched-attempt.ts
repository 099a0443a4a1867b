// Long because an attempt is one thing to its runner; most of it is a line or two that hands a call on.
/**
 * Watches one attempt through its files, from offsets, so that nothing depends on having been there.
 *
 *   look: is it over? ──▶ read what was said, pass it on ──▶ look at the log ──▶ over: the end, once
 *
 * Invariant: looks are made one after the other, and whether it is over is asked before the last reading, never after
 * it: otherwise what was said in between would be lost.
 */
import { realpathSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { LogGaps } from '../log/log-gaps.ts';
import { LogMonitor, type LogState } from '../log/log-monitor.ts';
import { findMembers } from '../process-tree/find-members.ts';
import type { Attached } from '../process-tree/membership.ts';
import { type ListedProcess, listMembers } from '../process-tree/process-list.ts';
import { bootIdentity, isAlive } from '../process-tree/process-stat.ts';
import { holdStill, letGoOn } from '../process-tree/send-signal.ts';
import { pause, resume, type Terminated, terminate } from '../process-tree/terminate.ts';
import { type AnswerPipe, createAnswerPipe } from '../protocol/answer-pipe.ts';
import { type SaidBatch, SaidReader } from '../protocol/report-reader.ts';
import type { Said } from '../protocol/reports.ts';
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
  readIfThere,
  readPid,
} from './attempt-files.ts';
import { FolderWatch } from './folder-watch.ts';
import { PollLoop } from './poll-loop.ts';
import { addSample, NO_USAGE, type Sample, type Usage, withFinalCpu } from './usage.ts';

const DEFAULT_LOG_BYTES = 1024 ** 3;
/** Short attempts are over before a watch would be of any use: the runner process tells when their shim has ended. */
const WATCH_AFTER_MS = 100;
/** Of 64 KiB each: a script that says more than that in a look is read later than it speaks. */
const SLICES_A_LOOK = 4;
const SAVE_EVERY_MS = 10_000;
/** Between the making of the shim's file and its first line there is nothing that takes time. */
const PIDS_WAIT_MS = 5_000;
const YOUNG_MS = 2_000;
const UNKNOWN: PidRecord = { boot: '', shim: { pid: 0, start: 0 }, script: null };

export class WatchedAttempt implements Attempt, Attached {
  readonly folder: string;
  readonly end: Promise<AttemptEnd>;
  readonly known = new Map<number, number>();
  record = UNKNOWN;
  cgroup: string | null;
  readonly logGaps: LogGaps;
  readonly #context: WatchContext;
  readonly #files: AttemptFiles;
  readonly #listener: AttemptListener;
  readonly #reader: SaidReader;
  readonly #keeper: LogMonitor;
  readonly #watch: FolderWatch;
  readonly #looks = new PollLoop(
    () => this.#lookOnce(),
    (error) => this.#context.onTrouble(`looking at ${this.folder}`, error),
  );
  readonly #oomKills: number | null;
  readonly #watchedAt = performance.now();
  #realFolder: string | null = null;
  #answers: AnswerPipe | null = null;
  #usage: Usage;
  #savedAt = 0;
  #isOver = false;
  #isShimGone = false;
  #isStartTold = false;
  #isTerminated = false;
  #exit: Exit | null = null;
  #resolveEnd!: (end: AttemptEnd) => void;

  constructor(context: WatchContext) {
    const { folder, isAdopted, maxLogBytes = DEFAULT_LOG_BYTES } = context;
    this.folder = folder;
    this.cgroup = context.cgroup;
    this.#context = context;
    this.#files = filesOf(folder);
    this.#listener = context.listener ?? {};
    const actFrom = isAdopted ? Number(readIfThere(this.#files.heard) ?? 0) : 0;
    this.#reader = new SaidReader(this.#files.said, actFrom, (act) => this.#holdStill(act));
    this.#keeper = new LogMonitor(this.#files, maxLogBytes, isAdopted ? 0 : Date.now());
    this.logGaps = new LogGaps(folder, this.#keeper);
    this.#usage = isAdopted ? loadUsage(this.#files.usage) : NO_USAGE;
    this.#oomKills = isAdopted ? null : context.countOomKills();
    this.#watch = new FolderWatch(folder, () => this.look());
    this.end = new Promise((resolve) => (this.#resolveEnd = resolve));
  }

  get spared(): ReadonlySet<number> {
    return this.#context.spared;
  }

  get realFolder(): string {
    this.#realFolder ??= realpathSync.native(this.folder);
    return this.#realFolder;
  }

  /** What was written once is not written anew. */
  get exit(): Exit | null {
    this.#exit ??= readExit(this.folder);
    return this.#exit;
  }

  isElsewhere(session: number): boolean {
    return this.#context.isElsewhere(session, this);
  }

  /** Only of one that was begun here: what stands in the file of another one may be anything. */
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

  get said(): Said {
    return this.#reader.said;
  }

  get log(): LogState {
    return this.#keeper.state;
  }

  get usage(): Usage {
    return this.#usage;
  }

  watch(): void {
    if (this.#context.isAdopted && this.#isHere) letGoOn(this.record.shim);
    this.#watch.start(this.#context.isAdopted ? 0 : WATCH_AFTER_MS);
  }

  /** Stops watching without an end. */
  close(): void {
    this.#isOver = true;
    this.#watch.close();
    this.#answers?.close();
  }

  shimIsGone(): void {
    this.#isShimGone = true;
    this.look();
  }

  look(): void {
    this.#looks.ask();
  }

  answer(text: string): boolean {
    const pids = this.pids;
    if (pids === null || this.#isOver) return false;
    this.#answers ??= createAnswerPipe(pids.shim);
    return this.#answers.answer(text);
  }

  heard(offset: number): void {
    writeFileSync(this.#files.heard, `${offset}`, { mode: 0o600 });
  }

  async terminate(options: { readonly graceMs: number }): Promise<Terminated> {
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

  /** Whether there can be anything to end. A shim that has not come to its first line yet is kept from it. */
  async #hasStarted(): Promise<boolean> {
    for (const until = performance.now() + PIDS_WAIT_MS; this.pids === null; await sleep(5)) {
      if (this.#isOver || performance.now() > until || withdraw(this.folder)) return false;
    }
    return true;
  }

  #holdStill(act: () => number): number {
    return this.#isHere ? holdStill(this.record.shim, act) : act();
  }

  /** Far too young for the numbers of processes to have begun anew since. */
  get #isYoung(): boolean {
    return !this.#context.isAdopted && performance.now() - this.#watchedAt < YOUNG_MS;
  }

  get #isHere(): boolean {
    return this.pids?.boot === bootIdentity();
  }

  async #lookOnce(): Promise<void> {
    if (this.#isOver) return;
    const { isOver, exit } = this.#askWhetherOver();
    if (!isOver) this.#tellStarted();
    await this.#readSaid(isOver);
    if (this.#isOver) return;
    if (this.#keeper.look(Date.now())) this.#listener.onOutput?.(this.#keeper.state);
    if (isOver) this.#finish(exit);
  }

  #tellStarted(): void {
    if (this.#isStartTold || !this.pids?.script) return;
    this.#isStartTold = true;
    this.#listener.onStarted?.(this.record);
  }

  #askWhetherOver(): { isOver: boolean; exit: Exit | null } {
    // First the processes, then the file: a shim that is gone has written all it will ever write.
    const isGone = this.#isShimGone || (this.pids !== null && !(this.#isHere && isAlive(this.record.shim)));
    const { exit } = this;
    return { isOver: isGone || exit !== null, exit };
  }

  async #readSaid(isOver: boolean): Promise<void> {
    for (let slices = 0; isOver || slices < SLICES_A_LOOK; slices += 1) {
      const batch = this.#reader.read() ?? (isOver ? this.#reader.finish() : null);
      if (batch === null || this.#isOver) return;
      await this.#pass(batch);
      if (slices % SLICES_A_LOOK === SLICES_A_LOOK - 1) await nextTurn();
    }
  }

  async #pass(batch: SaidBatch): Promise<void> {
    if (batch.heard.length === 0) return;
    try {
      await this.#listener.onSaid?.(batch);
    } catch (error) {
      this.#context.onTrouble(`acting upon what was said in ${this.folder}`, error);
    }
  }

  #finish(exit: Exit | null): void {
    this.#context.lookAtDisk(this.logGaps);
    this.close();
    this.#usage = withFinalCpu(this.#usage, exit?.cpuSeconds ?? 0);
    void this.#keeper.countRest(Date.now()).catch((error: unknown) => this.#context.onTrouble('counting a log', error));
    if (this.#usage.samples.length > 0) this.#saveUsage();
    const seen = { exit, said: this.said, usage: this.#usage };
    this.#resolveEnd(toEnd(this.#files, { ...seen, oomKills: this.#oomKills, isTerminated: this.#isTerminated }));
  }

  /** Whatever happens to it, the end of the attempt is told. */
  #saveUsage(): void {
    try {
      saveUsage(this.#files.usage, this.#usage);
    } catch (error) {
      this.#context.onTrouble(`saving what ${this.folder} used`, error);
    }
  }

  /** Not while the shim could still send the script into that group. */
  #releaseCgroup(): void {
    if (this.cgroup === null || (this.exit === null && isAlive(this.record.shim))) return;
    this.#context.releaseCgroup(this.cgroup);
    this.cgroup = null;
  }
}
