/** Termination is complete: no process of a script is left, whatever it started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Attempt } from '../../src/runner/attempt/attempt.ts';
import { filesOf } from '../../src/runner/attempt/attempt-files.ts';
import { openCgroups, processesIn } from '../../src/runner/process-tree/cgroups.ts';
import { findMembers } from '../../src/runner/process-tree/find-members.ts';
import type { TrackedAttempt } from '../../src/runner/process-tree/membership.ts';
import { bootIdentity, isAlive, isLiving, readStat } from '../../src/runner/process-tree/process-stat.ts';
import { takeSurvey } from '../../src/runner/process-tree/process-survey.ts';
import { isInside, placesOf } from '../../src/runner/process-tree/process-traces.ts';
import { testSize } from '../support/test-size.ts';
import {
  aFolder,
  aHome,
  aRequest,
  aRunner,
  eventually,
  logOf,
  markedWith,
  scripts,
  started,
} from './runner-workbench.ts';

const kinds = [
  'fork',
  'setsid',
  'double-fork',
  'ignores-term',
  'daemon',
  'nameless',
  'stops-itself',
  'many-groups',
] as const;

/** Small in the default size: the machine runs other tests at the same time. */
const many = testSize({ small: 16, full: 40 });

/** Every process that an independent search finds. */
async function leftOf(folder: string): Promise<number[]> {
  const { all } = await takeSurvey();
  const inFolder = all.filter(
    ({ pid }) => pid !== process.pid && placesOf(pid).some((place) => isInside(place, folder)),
  );
  return [...new Set([...markedWith(folder), ...inFolder.map(({ pid }) => pid)])];
}

function isLivingPid(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== null && isLiving(stat);
}

describe('terminating', () => {
  it('leaves no process of many stubborn trees, within the grace period and a second', {
    timeout: 90_000,
  }, async () => {
    const home = aHome();
    // Without control groups: with them this would prove nothing about the other means.
    const runner = aRunner({ cgroups: false });
    const trees = await Promise.all(
      Array.from({ length: many }, async (_, index) => {
        const folder = aFolder(home);
        const kind = kinds[index % kinds.length] ?? 'fork';
        const answer = await runner.start(aRequest(folder, join(scripts, 'tree.pl'), { env: { KIND: kind } }));
        if (!answer.ok) throw new Error(answer.message);
        return { kind, attempt: answer.attempt };
      }),
    );
    for (const { attempt, kind } of trees) {
      await eventually(
        () => attempt.said.status,
        (status) => status?.startsWith('ready') ?? false,
        60_000,
      ).catch(() => {
        throw new Error(`a tree of kind ${kind} did not become ready: ${logOf(attempt)}`);
      });
    }
    const graceMs = 1_000;
    expect((await leftOf(home)).length).toBeGreaterThan(3 * many);
    const ends = await Promise.all(
      trees.map(async ({ kind, attempt }) => {
        const startedAt = performance.now();
        const answer = await attempt.terminate({ graceMs });
        return { kind, attempt, answer, tookMs: performance.now() - startedAt };
      }),
    );
    expect(await leftOf(home)).toEqual([]);
    for (const { kind, attempt, answer, tookMs } of ends) {
      const signal = (await attempt.end).exit?.signal;
      expect({ kind, answer, signal }).toMatchObject({
        kind,
        answer: { left: 0, means: ['session', 'descent', 'known', 'mark', 'folder'] },
        signal: expect.stringMatching(/SIGTERM|SIGKILL/),
      });
      expect(tookMs).toBeLessThan(graceMs + 1_000);
    }
    process.stdout.write(
      `\nfigures: ${many} trees gone in ${Math.round(Math.max(...ends.map(({ tookMs }) => tookMs)))} ms\n`,
    );
    const stubborn = ends.filter(({ kind }) => ['ignores-term', 'daemon', 'nameless', 'many-groups'].includes(kind));
    expect(stubborn.every(({ answer }) => answer.killed > 0)).toBe(true);
  });

  it('finds a process whose only trace is fd 3', async () => {
    const home = aHome();
    const runner = aRunner({ cgroups: false });
    const noted = join(home, 'daemon');
    const daemon = `cd /; echo $$ > ${noted}; exec sleep 120 </dev/null >/dev/null 2>&1 4>&-`;
    const attempt = await started(runner, home, {
      text: `(exec env -i setsid -f sh -c '${daemon}'); while [ ! -s ${noted} ]; do sleep 0.01; done`,
    });
    expect((await attempt.end).said.status).toBeNull();
    expect(await attempt.terminate({ graceMs: 200 })).toMatchObject({ left: 0 });
    expect(isLivingPid(Number(readFileSync(noted, 'utf8')))).toBe(false);
  });

  it('lets a script that handles TERM clean up', async () => {
    const attempt = await started(aRunner(), aHome(), {
      text: 'trap "echo cleaned; exit 5" TERM; echo run ready >&3; while [ $SECONDS -lt 120 ]; do sleep 0.1; done',
    });
    await eventually(
      () => attempt.said.status,
      (status) => status === 'ready',
    );
    expect(await attempt.terminate({ graceMs: 10_000 })).toMatchObject({ left: 0, killed: 0 });
    expect((await attempt.end).exit?.status).toBe(5);
    expect(logOf(attempt)).toContain('cleaned\n');
  });

  it('reaches a script that was just started, or keeps it from starting', async () => {
    const home = aHome();
    const runner = aRunner({ cgroups: false });
    for (let round = 0; round < 12; round += 1) {
      const attempt = await started(runner, home, { text: 'trap "" TERM; sleep 120' });
      // At once, after the line of the shim, or after the line of the script.
      if (round % 3 > 0)
        await eventually(
          () => attempt.pids,
          (pids) => pids !== null,
        );
      if (round % 3 > 1)
        await eventually(
          () => attempt.pids?.script ?? null,
          (script) => script !== null,
        );
      expect(await attempt.terminate({ graceMs: 0 })).toMatchObject({ left: 0 });
      await attempt.end;
    }
    expect(await leftOf(home)).toEqual([]);
  });

  it.each([
    ['in its session', ''],
    ['each in a session of its own', 'POSIX::setsid();'],
  ])('catches a process that forks and exits every few ms, %s', async (_where, leave) => {
    // A deadline of its own: an escaped one would never end, and could hardly be caught by hand.
    const chain = `use POSIX; $SIG{TERM} = "IGNORE"; my $end = time + 60; while (time < $end) { fork and exit; ${leave} select undef, undef, undef, 0.004 }`;
    const attempt = await started(aRunner(), aHome(), { text: `perl -e '${chain}' & echo run ready >&3; sleep 120` });
    await eventually(
      () => attempt.said.status,
      (status) => status === 'ready',
    );
    expect(await attempt.terminate({ graceMs: 200 })).toMatchObject({ left: 0 });
    expect(await leftOf(attempt.folder)).toEqual([]);
  });

  it('finds a process that forks and exits every ms in every single search', { timeout: 30_000 }, async () => {
    const chain = `use POSIX; my $end = time + 25; while (time < $end) { fork and POSIX::_exit(0); POSIX::setsid(); select undef, undef, undef, 0.001 }`;
    const attempt = await started(aRunner({ cgroups: false }), aHome(), {
      text: `perl -e '${chain}' >/dev/null & echo run ready >&3`,
    });
    await attempt.end;
    const tracked: TrackedAttempt = {
      folder: attempt.folder,
      realFolder: realpathSync(attempt.folder),
      record: attempt.pids!,
      known: new Map(),
      excludedPids: new Set([process.pid]),
      cgroup: null,
      exit: null,
      isForeignSession: () => false,
    };
    const missed: number[] = [];
    for (let search = 0; search < 100; search += 1) {
      tracked.known.clear();
      const { members, isComplete } = await findMembers(tracked);
      if (isComplete && members.length === 0) missed.push(search);
    }
    expect(missed).toEqual([]);
    expect(await attempt.terminate({ graceMs: 0 })).toMatchObject({ left: 0 });
    expect(await leftOf(attempt.folder)).toEqual([]);
  });

  it.runIf(openCgroups() !== null)('creates a control group for each attempt, and leaves none behind', async () => {
    const groups = openCgroups()!;
    onTestFinished(() => groups.close());
    const [used, other] = [groups.make(null)!, groups.make(null)!];
    const sleeper = spawn('sleep', ['60'], { stdio: 'ignore' });
    onTestFinished(() => void sleeper.kill('SIGKILL'));
    writeFileSync(join(used, 'cgroup.procs'), `${sleeper.pid}`);
    for (const path of [used, other]) groups.release(path);
    await eventually(
      () => existsSync(other),
      (isThere) => !isThere,
    );
    expect(existsSync(used)).toBe(true);
    sleeper.kill('SIGKILL');
    await once(sleeper, 'exit');
    groups.close();
    expect(existsSync(used)).toBe(false);
  });

  it.runIf(openCgroups() !== null)('finds a process without any trace, through its control group', async () => {
    const daemon =
      'exec env -i setsid sh -c "cd /; trap \\"\\" TERM; exec sleep 120 </dev/null >/dev/null 2>&1 3>&- 4>&-"';
    const home = aHome();
    const runner = aRunner();
    const attempt = await started(runner, home, {
      text: `(${daemon}) & sleep 0.3; echo run ready >&3; sleep 120`,
    });
    await eventually(
      () => attempt.said.status,
      (status) => status === 'ready',
    );
    const group = openCgroups()?.find(attempt.pids?.group ?? 'none') ?? '';
    const members = processesIn(group);
    expect(members.filter((pid) => readStat(pid)?.session === attempt.pids?.shim.pid)).toEqual([]);
    expect(members.length).toBeGreaterThanOrEqual(3);
    const answer = await attempt.terminate({ graceMs: 300 });
    expect(answer).toMatchObject({ left: 0, means: ['cgroup', 'session', 'descent', 'known', 'mark', 'folder'] });
    expect(members.filter((pid) => isLivingPid(pid))).toEqual([]);
    await attempt.end;
    await eventually(
      () => existsSync(group),
      (isThere) => !isThere,
    );
    // The record of an ended attempt never names the group of another one.
    const next = await started(runner, home, { text: 'echo next' });
    expect((await next.end).exit?.status).toBe(0);
    expect(next.pids?.group).not.toBe(attempt.pids?.group);
    await next.terminate({ graceMs: 0 });
  });

  it('leaves a reader of the log alone', async () => {
    const home = aHome();
    const attempt = await started(aRunner(), home, { text: 'echo a; sleep 120' });
    await eventually(
      () => attempt.pids?.script ?? null,
      (script) => script !== null,
    );
    await eventually(
      () => attempt.log.size,
      (size) => size > 0,
    );
    const reader = spawn('sh', ['-c', 'exec tail -f "$0"', filesOf(attempt.folder).log], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void reader.kill('SIGKILL'));
    await once(reader.stdout, 'data');
    expect(await attempt.terminate({ graceMs: 1_000 })).toMatchObject({ left: 0 });
    expect(reader.exitCode).toBeNull();
    expect(isAlive(readStat(reader.pid ?? 0)!)).toBe(true);
  });

  it('never signals a pid that was reassigned to another process', async () => {
    const home = aHome();
    const runner = aRunner();
    const bystander = spawn('sleep', ['120'], { detached: true, stdio: 'ignore' });
    onTestFinished(() => void bystander.kill('SIGKILL'));
    const { pid, start } = readStat(bystander.pid ?? 0)!;
    const forge = async (boot: string, wrong: number): Promise<{ state: string; attempt: Attempt }> => {
      const folder = aFolder(home);
      writeFileSync(filesOf(folder).pid, `${pid} ${start + wrong} ${boot}\n${pid} ${start + wrong} \n`);
      const answer = await runner.adopt(folder);
      if (answer.state === 'never-started') throw new Error('it was');
      return answer;
    };
    const reused = await forge(bootIdentity(), -5);
    expect(reused.state).toBe('died');
    expect(await reused.attempt.terminate({ graceMs: 0 })).toMatchObject({ left: 0, killed: 0 });
    const rebooted = await forge('another-boot/1', 0);
    expect(rebooted.state).toBe('other-boot');
    expect(await rebooted.attempt.terminate({ graceMs: 0 })).toEqual({ left: 0, killed: 0, means: [] });
    await rebooted.attempt.pause();
    expect(isAlive({ pid, start })).toBe(true);
    expect(readStat(pid)?.state).toBe('S');
  });
});

describe('pausing', () => {
  it('stops the whole tree, resuming continues it, and terminating ends it stopped or not', async () => {
    const home = aHome();
    const runner = aRunner();
    const text =
      'setsid bash -c "i=0; while [ \\$i -lt 5000 ]; do i=\\$((i+1)); echo \\$i > beat; sleep 0.02; done" & echo run ready >&3; while [ $SECONDS -lt 120 ]; do sleep 0.05; done';
    const attempt = await started(runner, home, { text });
    const beat = () => Number(readFileSync(join(attempt.folder, 'work', 'beat'), 'utf8').trim() || 0);
    await eventually(
      () => attempt.said.status,
      (status) => status === 'ready',
    );
    await eventually(
      () => markedWith(attempt.folder).length,
      (count) => count >= 4,
    );
    await eventually(beat, (number) => number > 3);
    await attempt.pause();
    const states = () =>
      markedWith(attempt.folder)
        .map((pid) => readStat(pid))
        .filter((stat) => stat !== null && stat.session !== attempt.pids?.shim.pid)
        .map((stat) => stat?.state);
    expect(new Set(states())).toEqual(new Set(['T']));
    const paused = beat();
    await attempt.resume();
    await eventually(beat, (number) => number > paused);
    await attempt.pause();
    expect(await attempt.terminate({ graceMs: 2_000 })).toMatchObject({ left: 0, killed: 0 });
    expect(await leftOf(attempt.folder)).toEqual([]);
  });
});
