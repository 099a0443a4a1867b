/**
 * Ends everything that belongs to an attempt, and says what it knows of the rest.
 *
 *   TERM to all, CONT so that stopped ones can die ──grace──▶ KILL, again and again ──▶ looks that find nothing
 *
 * What ended by itself is looked at once, and nothing is signalled. The shim never is: it has the exit status to write.
 * Only one that does not end by itself afterwards is killed.
 */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPid } from '../attempt/attempt-files.ts';
import { killCgroup } from './cgroups.ts';
import { findMembers, findYoungMembers, hasNoMembers, type Look } from './find-members.ts';
import { type Attached, type Means, type Member, shimSession } from './membership.ts';
import { bootIdentity, isAlive } from './process-stat.ts';
import { takeSurvey } from './process-survey.ts';
import { sendSignal, sendToGroup } from './send-signal.ts';

export interface Terminated {
  /** Processes that are known to belong and still run: 0 but for those the kernel does not let die. */
  readonly left: number;
  /** How many had to be killed. */
  readonly killed: number;
  /** How it is known: what was looked at. Empty when nothing can be known, since the machine was started anew. */
  readonly means: readonly Means[];
}

export interface TerminateOptions {
  readonly graceMs: number;
  /** It began so little ago that all of its processes have later numbers than its shim. */
  readonly isYoung?: boolean;
}

const ALL_MEANS: readonly Means[] = ['session', 'descent', 'known', 'mark', 'folder'];
const FIRST_LOOK_MS = 5;
const LONGEST_LOOK_MS = 50;
/** Beyond this a process that was killed is stuck in the kernel. */
const KILL_WAIT_MS = 5_000;
const SHIM_WAIT_MS = 2_000;
const START_WAIT_MS = 500;
/** One that is about to run another program has no environment to be read for a moment: so one more look. */
const EMPTY_LOOKS = 2;
/** Looks that tell nothing, because too many processes come and go. */
const VAIN_LOOKS = 10;
/** After so many rounds all are stopped before they are killed: what is killed makes room for others to be forked. */
const CALM_ROUNDS = 3;

export async function terminate(attached: Attached, options: TerminateOptions): Promise<Terminated> {
  if (attached.record.boot !== bootIdentity()) return { left: 0, killed: 0, means: [] };
  const hasCgroup = attached.cgroup !== null && existsSync(attached.cgroup);
  const { left, killed } = await endAll(attached, options);
  await endShim(attached);
  return { left, killed, means: hasCgroup ? ['cgroup', ...ALL_MEANS] : ALL_MEANS };
}

type Ended = Pick<Terminated, 'left' | 'killed'>;
const NOBODY: Ended = { left: 0, killed: 0 };

async function endAll(attached: Attached, { graceMs, isYoung = false }: TerminateOptions): Promise<Ended> {
  if (isYoung && isOver(attached) && isNobody(findYoungMembers(attached))) return NOBODY;
  // Not before the script can be named: one that comes after the TERM would have the whole grace to itself.
  await waitUntil(() => !isStarting(attached), START_WAIT_MS);
  const asked = await findMembers(attached, (member) => {
    sendSignal(member, 'SIGTERM');
    sendSignal(member, 'SIGCONT');
  });
  if (isOver(attached) && isNobody(asked)) return NOBODY;
  return (await waitUntilNone(attached, graceMs)) ? NOBODY : killAll(attached);
}

const isNobody = ({ members, isWhole }: Look): boolean => isWhole && members.length === 0;

/** The shim has written how it ended: nothing of it is about to begin. */
const isOver = ({ exit }: Attached): boolean => exit !== null;

/** Stops all processes where they are. Again, until a look finds none that runs: they may have forked meanwhile. */
export async function pause(attached: Attached): Promise<void> {
  for (const until = performance.now() + KILL_WAIT_MS; performance.now() < until; await sleep(FIRST_LOOK_MS)) {
    let running = 0;
    const { isWhole } = await findMembers(attached, (member) => {
      if (member.state === 'T' || member.state === 't') return;
      running += 1;
      sendSignal(member, 'SIGSTOP');
    });
    if (running === 0 && isWhole) return;
  }
}

export async function resume(attached: Attached): Promise<void> {
  await findMembers(attached, (member) => void sendSignal(member, 'SIGCONT'));
}

async function waitUntilNone(attached: Attached, waitMs: number): Promise<boolean> {
  const until = performance.now() + waitMs;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(LONGEST_LOOK_MS, pauseMs * 2)) {
    if (await hasNone(attached)) return true;
    if (performance.now() + pauseMs > until) return false;
    await sleep(pauseMs);
  }
}

async function hasNone(attached: Attached): Promise<boolean> {
  for (let looks = 0, empty = 0; looks < VAIN_LOOKS; looks += 1) {
    if (isStarting(attached)) return false;
    const isEmpty = await hasNoMembers(attached);
    if (isEmpty === false) return false;
    if (isEmpty && ++empty === EMPTY_LOOKS) return true;
  }
  return false;
}

/** The shim has written its own line, and the script's is still to come. */
function isStarting(attached: Attached): boolean {
  if (attached.record.script === null) attached.record = readPid(attached.folder) ?? attached.record;
  return attached.record.script === null && !isOver(attached) && isAlive(attached.record.shim);
}

async function killAll(attached: Attached): Promise<Ended> {
  const killed = new Set<number>();
  const kill = (member: Member): void => {
    killed.add(member.pid);
    // Within the script's session nobody else can be in its group, and what it forks meanwhile is.
    if (member.session === attached.record.script?.pid && member.group > 1) sendToGroup(member.group, 'SIGKILL');
    sendSignal(member, 'SIGKILL');
  };
  const until = performance.now() + KILL_WAIT_MS;
  // A shim that has not come to its script yet must not start it any more.
  if (isStarting(attached)) sendSignal(attached.record.shim, 'SIGKILL');
  // Those of the last look at once: the next one takes its time on a busy machine.
  for (const [pid, start] of attached.known) if (sendSignal({ pid, start }, 'SIGKILL')) killed.add(pid);
  for (let round = 0; ; round += 1) {
    if (attached.cgroup !== null) killCgroup(attached.cgroup);
    if (round >= CALM_ROUNDS) await findMembers(attached, (member) => void sendSignal(member, 'SIGSTOP'));
    await findMembers(attached, kill);
    if (await hasNone(attached)) return { left: 0, killed: killed.size };
    if (performance.now() > until) return { left: (await findMembers(attached)).members.length, killed: killed.size };
    await sleep(FIRST_LOOK_MS);
  }
}

/** The shim writes how the script ended, and ends. Only one that did not may have left helpers behind. */
async function endShim(attached: Attached): Promise<void> {
  const { record } = attached;
  await waitUntil(() => isOver(attached) || !isAlive(record.shim), SHIM_WAIT_MS);
  if (isOver(attached)) return;
  const { all } = await takeSurvey();
  for (const process of shimSession(all, record)) sendSignal(process, 'SIGKILL');
}

async function waitUntil(isSo: () => boolean, waitMs: number): Promise<void> {
  for (const until = performance.now() + waitMs; !isSo() && performance.now() < until; ) await sleep(FIRST_LOOK_MS);
}
