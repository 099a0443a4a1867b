/**
 * Terminates every process of an attempt, and reports what is left.
 *
 *   TERM to all, CONT so that stopped ones can die ──grace──▶ KILL, repeatedly ──▶ searches that find nothing
 *
 * An attempt that ended by itself is searched once, and no signal is sent. The shim gets no signal, because it must write
 * the exit status. It is killed only if it does not exit afterwards.
 */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPid } from '../attempt/attempt-files.ts';
import { killCgroup } from './cgroups.ts';
import { type FoundMembers, findMembers, findYoungMembers, hasNoMembers } from './find-members.ts';
import { type Means, type Member, shimSession, type TrackedAttempt } from './membership.ts';
import { bootIdentity, isAlive } from './process-stat.ts';
import { takeSurvey } from './process-survey.ts';
import { sendSignal, sendToGroup } from './send-signal.ts';

export interface TerminateResult {
  /** Members that still run: 0 except for processes that the kernel does not let die. */
  readonly left: number;
  /** How many had to be killed. */
  readonly killed: number;
  /** The means by which members were searched. Empty after a reboot, when nothing can be known. */
  readonly means: readonly Means[];
}

export interface TerminateOptions {
  readonly graceMs: number;
  /** The attempt is so young that all of its processes have later pids than its shim. */
  readonly isYoung?: boolean;
}

const ALL_MEANS: readonly Means[] = ['session', 'descent', 'known', 'mark', 'folder'];
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;
/** A killed process that lives longer is stuck in the kernel. */
const KILL_WAIT_MS = 5_000;
const SHIM_WAIT_MS = 2_000;
const START_WAIT_MS = 500;
/** A process in the middle of an exec has no readable environment for a moment, so one empty search is not enough. */
const EMPTY_SEARCHES = 2;
/** The number of inconclusive searches, which happen when too many processes come and go. */
const MAX_SEARCHES = 10;
/** After this many rounds, all members are stopped before they are killed: each kill makes room for another fork. */
const ROUNDS_BEFORE_STOP = 3;

export async function terminate(attempt: TrackedAttempt, options: TerminateOptions): Promise<TerminateResult> {
  if (attempt.record.boot !== bootIdentity()) return { left: 0, killed: 0, means: [] };
  const hasCgroup = attempt.cgroup !== null && existsSync(attempt.cgroup);
  const { left, killed } = await terminateAll(attempt, options);
  await endShim(attempt);
  return { left, killed, means: hasCgroup ? ['cgroup', ...ALL_MEANS] : ALL_MEANS };
}

type Ended = Pick<TerminateResult, 'left' | 'killed'>;
const NO_PROCESSES: Ended = { left: 0, killed: 0 };

async function terminateAll(attempt: TrackedAttempt, { graceMs, isYoung = false }: TerminateOptions): Promise<Ended> {
  if (isYoung && isOver(attempt) && hasNoProcesses(findYoungMembers(attempt))) return NO_PROCESSES;
  // The script must be known first: a script that starts after the TERM would have the whole grace period.
  await waitUntil(() => !isStarting(attempt), START_WAIT_MS);
  const asked = await findMembers(attempt, (member) => {
    sendSignal(member, 'SIGTERM');
    sendSignal(member, 'SIGCONT');
  });
  if (isOver(attempt) && hasNoProcesses(asked)) return NO_PROCESSES;
  return (await waitUntilNone(attempt, graceMs)) ? NO_PROCESSES : killAll(attempt);
}

const hasNoProcesses = ({ members, isComplete }: FoundMembers): boolean => isComplete && members.length === 0;

/** The shim has written the exit status, so nothing is about to start. */
const isOver = ({ exit }: TrackedAttempt): boolean => exit !== null;

/** Stops all members. Repeats until a search finds none running, because they may have forked meanwhile. */
export async function pause(attempt: TrackedAttempt): Promise<void> {
  for (const until = performance.now() + KILL_WAIT_MS; performance.now() < until; await sleep(FIRST_PAUSE_MS)) {
    let running = 0;
    const { isComplete } = await findMembers(attempt, (member) => {
      if (member.state === 'T' || member.state === 't') return;
      running += 1;
      sendSignal(member, 'SIGSTOP');
    });
    if (running === 0 && isComplete) return;
  }
}

export async function resume(attempt: TrackedAttempt): Promise<void> {
  await findMembers(attempt, (member) => void sendSignal(member, 'SIGCONT'));
}

async function waitUntilNone(attempt: TrackedAttempt, waitMs: number): Promise<boolean> {
  const until = performance.now() + waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    if (await hasNone(attempt)) return true;
    if (performance.now() + pauseMs > until) return false;
    await sleep(pauseMs);
  }
}

async function hasNone(attempt: TrackedAttempt): Promise<boolean> {
  for (let searches = 0, empty = 0; searches < MAX_SEARCHES; searches += 1) {
    if (isStarting(attempt)) return false;
    const isEmpty = await hasNoMembers(attempt);
    if (isEmpty === false) return false;
    if (isEmpty && ++empty === EMPTY_SEARCHES) return true;
  }
  return false;
}

/** The shim has written its line, and the script has not. */
function isStarting(attempt: TrackedAttempt): boolean {
  if (attempt.record.script === null) attempt.record = readPid(attempt.folder) ?? attempt.record;
  return attempt.record.script === null && !isOver(attempt) && isAlive(attempt.record.shim);
}

async function killAll(attempt: TrackedAttempt): Promise<Ended> {
  const killed = new Set<number>();
  const kill = (member: Member): void => {
    killed.add(member.pid);
    // Within the script's session, a group contains only members, including what they fork meanwhile.
    if (member.session === attempt.record.script?.pid && member.group > 1) sendToGroup(member.group, 'SIGKILL');
    sendSignal(member, 'SIGKILL');
  };
  const until = performance.now() + KILL_WAIT_MS;
  // A shim that has not started its script must not start it any more.
  if (isStarting(attempt)) sendSignal(attempt.record.shim, 'SIGKILL');
  // The members of the last search first: the next search is slow on a busy machine.
  for (const [pid, start] of attempt.known) if (sendSignal({ pid, start }, 'SIGKILL')) killed.add(pid);
  for (let round = 0; ; round += 1) {
    if (attempt.cgroup !== null) killCgroup(attempt.cgroup);
    if (round >= ROUNDS_BEFORE_STOP) await findMembers(attempt, (member) => void sendSignal(member, 'SIGSTOP'));
    await findMembers(attempt, kill);
    if (await hasNone(attempt)) return { left: 0, killed: killed.size };
    if (performance.now() > until) return { left: (await findMembers(attempt)).members.length, killed: killed.size };
    await sleep(FIRST_PAUSE_MS);
  }
}

/** Waits until the shim writes the exit status and exits. Only a shim that does not may have left helpers behind. */
async function endShim(attempt: TrackedAttempt): Promise<void> {
  const { record } = attempt;
  await waitUntil(() => isOver(attempt) || !isAlive(record.shim), SHIM_WAIT_MS);
  if (isOver(attempt)) return;
  const { all } = await takeSurvey();
  for (const process of shimSession(all, record)) sendSignal(process, 'SIGKILL');
}

async function waitUntil(condition: () => boolean, waitMs: number): Promise<void> {
  for (const until = performance.now() + waitMs; !condition() && performance.now() < until; )
    await sleep(FIRST_PAUSE_MS);
}
