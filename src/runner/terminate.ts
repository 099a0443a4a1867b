/**
 * Ends everything that belongs to an attempt, and says what it knows of the rest.
 *
 *   TERM to all, CONT so that stopped ones can die ──grace──▶ KILL, again and again ──▶ looks that find nothing
 *
 * More than one look, because a process may fork and end between the listing of /proc and the reading of its line.
 * The shim is not signalled: it has the exit status to write. Only one that does not end by itself afterwards is killed.
 */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readExit, readPid } from './attempt-files.ts';
import {
  type Attached,
  allMembersOf,
  canBelong,
  type Means,
  type Member,
  membersOf,
  shimSession,
} from './belonging.ts';
import { killCgroup } from './cgroups.ts';
import { MARK } from './order.ts';
import { bootIdentity, isAlive, isLiving, readStat } from './process-stat.ts';
import { readEnvironment } from './process-traces.ts';
import { sendSignal, sendToGroup } from './send-signal.ts';
import { listProcesses, takeSurvey } from './survey.ts';

export interface Terminated {
  /** Processes that are known to belong and still run: 0 but for those the kernel does not let die. */
  readonly left: number;
  /** How many had to be killed. */
  readonly killed: number;
  /** How it is known: what was looked at. Empty when nothing can be known, since the machine was started anew. */
  readonly means: readonly Means[];
}

const ALL_MEANS: readonly Means[] = ['session', 'descent', 'known', 'mark', 'folder'];
const FIRST_LOOK_MS = 5;
const LONGEST_LOOK_MS = 50;
/** Beyond this a process that was killed is stuck in the kernel. */
const KILL_WAIT_MS = 5_000;
const SHIM_WAIT_MS = 2_000;
const START_WAIT_MS = 500;
/** How many looks must find nothing: some, and more where processes come and go. */
const EMPTY_LOOKS = { calm: 2, lively: 4 };
/** After so many rounds they are killed as they are found, not after all were found. */
const CALM_ROUNDS = 3;

export async function terminate(attached: Attached, { graceMs }: { readonly graceMs: number }): Promise<Terminated> {
  if (attached.record.boot !== bootIdentity()) return { left: 0, killed: 0, means: [] };
  const hasCgroup = attached.cgroup !== null && existsSync(attached.cgroup);
  // Not before the script can be named: one that comes after the TERM would have the whole grace to itself.
  await waitUntil(() => !isStarting(attached), START_WAIT_MS);
  await signalAll(attached, ['SIGTERM', 'SIGCONT']);
  const isGone = await waitUntilNone(attached, graceMs);
  const { left, killed } = isGone ? { left: 0, killed: 0 } : await killAll(attached);
  await endShim(attached);
  return { left, killed, means: hasCgroup ? ['cgroup', ...ALL_MEANS] : ALL_MEANS };
}

/** Stops all processes where they are. Again, until a look finds none that runs: they may have forked meanwhile. */
export async function pause(attached: Attached): Promise<void> {
  for (const until = performance.now() + KILL_WAIT_MS; performance.now() < until; await sleep(FIRST_LOOK_MS)) {
    const running = (await lookClosely(attached)).filter(({ state }) => state !== 'T' && state !== 't');
    if (running.length === 0) return;
    for (const member of running) sendSignal(member, 'SIGSTOP');
  }
}

export async function resume(attached: Attached): Promise<void> {
  await signalAll(attached, ['SIGCONT']);
}

async function signalAll(attached: Attached, signals: readonly NodeJS.Signals[]): Promise<void> {
  const members = await lookClosely(attached);
  for (const signal of signals) {
    for (const member of members) sendSignal(member, signal);
  }
}

const lookClosely = async (attached: Attached): Promise<Member[]> => allMembersOf(await takeSurvey(), attached);

async function waitUntilNone(attached: Attached, waitMs: number): Promise<boolean> {
  const until = performance.now() + waitMs;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(LONGEST_LOOK_MS, pauseMs * 2)) {
    if (await hasNone(attached)) return true;
    if (performance.now() + pauseMs > until) return false;
    await sleep(pauseMs);
  }
}

/** What the look itself shows comes first: as long as that is somebody, nothing need be read of the others. */
async function hasNone(attached: Attached): Promise<boolean> {
  for (let looks = 0, needed = EMPTY_LOOKS.calm; looks < needed; looks += 1) {
    const survey = await takeSurvey();
    if (isStarting(attached) || membersOf(survey.all, attached).length > 0) return false;
    if (allMembersOf(survey, attached).length > 0) return false;
    if (survey.vanished > 0) needed = EMPTY_LOOKS.lively;
  }
  return true;
}

/** The shim has written its own line, and the script's is still to come. */
function isStarting(attached: Attached): boolean {
  if (attached.record.script === null) attached.record = readPid(attached.folder) ?? attached.record;
  return attached.record.script === null && isAlive(attached.record.shim);
}

async function killAll(attached: Attached): Promise<Pick<Terminated, 'left' | 'killed'>> {
  const killed = new Set<number>();
  const until = performance.now() + KILL_WAIT_MS;
  // A shim that has not come to its script yet must not start it any more.
  if (isStarting(attached)) sendSignal(attached.record.shim, 'SIGKILL');
  for (let round = 0; ; round += 1) {
    const members = await lookClosely(attached);
    for (const { pid } of members) killed.add(pid);
    if (attached.cgroup !== null) killCgroup(attached.cgroup);
    for (const group of wholeGroups(members, attached)) sendToGroup(group, 'SIGKILL');
    for (const member of members) sendSignal(member, 'SIGKILL');
    if (round >= CALM_ROUNDS) for (const pid of killOnSight(attached)) killed.add(pid);
    if (await hasNone(attached)) return { left: 0, killed: killed.size };
    if (performance.now() > until) return { left: (await lookClosely(attached)).length, killed: killed.size };
    await sleep(FIRST_LOOK_MS);
  }
}

/** Groups within the script's session: nobody else can be in them. */
function wholeGroups(members: readonly Member[], { record }: Attached): Set<number> {
  const inSession = members.filter(({ means, session }) => means === 'session' && session === record.script?.pid);
  return new Set(inSession.map(({ group }) => group).filter((group) => group > 1));
}

/** For those that become another process faster than a look takes: nothing is between seeing and killing. */
function killOnSight(attached: Attached): number[] {
  return listProcesses().filter((pid) => {
    const stat = readStat(pid);
    if (stat === null || !isLiving(stat) || !canBelong(stat, attached)) return false;
    return readEnvironment(pid, MARK) === attached.folder && sendSignal(stat, 'SIGKILL');
  });
}

/** The shim writes how the script ended and goes. Only one that did not may have left helpers behind. */
async function endShim({ folder, record }: Attached): Promise<void> {
  await waitUntil(() => !isAlive(record.shim), SHIM_WAIT_MS);
  if (!isAlive(record.shim) && readExit(folder) !== null) return;
  const { all } = await takeSurvey();
  for (const process of shimSession(all, record)) sendSignal(process, 'SIGKILL');
}

async function waitUntil(isSo: () => boolean, waitMs: number): Promise<void> {
  for (const until = performance.now() + waitMs; !isSo() && performance.now() < until; ) await sleep(FIRST_LOOK_MS);
}
