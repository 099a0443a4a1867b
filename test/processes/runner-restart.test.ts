/** Node and runner process stop or die by kill -9: running scripts continue, and no line is lost. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { adopt, withdraw } from '../../src/runner/attempt/adopt.ts';
import { filesOf, readExit, readPid } from '../../src/runner/attempt/attempt-files.ts';
import { isAlive } from '../../src/runner/process-tree/process-stat.ts';
import { type Fixture, startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import {
  aFolder,
  aHome,
  aRequest,
  aRunner,
  aScript,
  aShim,
  aShimText,
  eventually,
  killQuietly,
  logOf,
  markedWith,
  scripts,
  started,
} from './runner-workbench.ts';

/** A process with a runner, and the pid of its runner process. */
async function aParent(): Promise<{ parent: Fixture; runnerPid: number }> {
  const parent = await startFixture('runner-parent.mjs');
  const health = await parent.next(({ type, isUp }) => type === 'health' && isUp === true);
  return { parent, runnerPid: Number(health['pid']) };
}

async function adopted(parent: Fixture, folders: readonly string[]): Promise<Record<string, unknown>> {
  for (const folder of folders) parent.send({ type: 'adopt', folder });
  const states: Record<string, unknown> = {};
  for (const folder of folders) {
    const answer = await parent.next((each) => each['type'] === 'adopted' && each['folder'] === folder, 20_000);
    states[folder] = answer['state'];
  }
  return states;
}

const theEndOf = (parent: Fixture, folder: string) =>
  parent.next((each) => each['type'] === 'ended' && each['folder'] === folder, 60_000);

describe('scripts that print a counter every 100 ms', () => {
  const count = testSize({ small: 50, full: 50 });
  const lines = 120;

  it('continue across every kind of death, each once, with no line missing', { timeout: 120_000 }, async () => {
    const home = aHome();
    const folders = Array.from({ length: count }, () => aFolder(home));
    const first = await aParent();
    for (const folder of folders) {
      const request = aRequest(folder, join(scripts, 'counter.pl'), { env: { COUNT: `${lines}` } });
      first.parent.send({ type: 'start', request });
    }
    for (const folder of folders) {
      await first.parent.next((each) => each['type'] === 'said' && each['folder'] === folder, 30_000);
    }
    // Kill the node, and with it the runner process.
    await first.parent.kill9();
    const second = await aParent();
    expect(new Set(Object.values(await adopted(second.parent, folders)))).toEqual(new Set(['running']));
    for (const folder of folders)
      await second.parent.next((each) => each['type'] === 'said' && each['folder'] === folder);
    // A graceful stop.
    second.parent.send({ type: 'stop' });
    expect(await second.parent.ended).toEqual({ code: 0, signal: null });
    const third = await aParent();
    await adopted(third.parent, folders);
    // Kill the runner process alone; then both at once.
    killQuietly(third.runnerPid);
    const revived = await third.parent.next((each) => each['type'] === 'health' && each['isUp'] === true);
    expect(revived['pid']).not.toBe(third.runnerPid);
    await third.parent.next((each) => each['type'] === 'said' && each['folder'] === folders[0]);
    killQuietly(Number(revived['pid']));
    await third.parent.kill9();
    const last = await aParent();
    await adopted(last.parent, folders);
    for (const folder of folders) {
      const end = await theEndOf(last.parent, folder);
      expect(end).toMatchObject({ exit: { status: 0, areReportsComplete: true }, said: { status: 'counted' } });
      const numbers = Array.from({ length: lines }, (_, index) => `counter ${index + 1}\n`);
      expect(logOf({ folder })).toBe(numbers.join(''));
      expect(
        readFileSync(join(folder, 'work', 'starts'), 'utf8')
          .trim()
          .split('\n'),
      ).toHaveLength(1);
    }
    expect(last.parent.messages.filter(({ type }) => type === 'trouble')).toEqual([]);
  });
});

describe('a script', () => {
  it('that ends while node and runner are down is reported from its files', async () => {
    const home = aHome();
    const { parent } = await aParent();
    const folder = aFolder(home);
    const text =
      'echo run ready >&3; while [ ! -e go ] && [ $SECONDS -lt 120 ]; do sleep 0.02; done; echo bye; echo \'result {"a":1}\' >&3; echo done away >&3; exit 0';
    parent.send({ type: 'start', request: aRequest(folder, aScript(home, text)) });
    await parent.next(({ type, status }) => type === 'said' && status === 'ready');
    await parent.kill9();
    await once(spawn('touch', [join(folder, 'work', 'go')]), 'close');
    await eventually(
      () => isAlive(readPid(folder)!.shim),
      (is) => !is,
    );
    const next = await aParent();
    expect(await adopted(next.parent, [folder])).toEqual({ [folder]: 'ended' });
    expect(await theEndOf(next.parent, folder)).toMatchObject({
      exit: { status: 0 },
      said: { completion: { kind: 'done', text: 'away' }, result: '{"a":1}', status: 'away' },
    });
    expect(logOf({ folder })).toBe('bye\n');
  });

  it('whose shim is killed has died, and its tree can be ended', async () => {
    const home = aHome();
    const runner = aRunner();
    const attempt = await started(runner, home, { text: 'echo run ready >&3; setsid sleep 120 & sleep 120' });
    await eventually(
      () => attempt.said.status,
      (status) => status === 'ready',
    );
    await sleep(20);
    const killedAt = Date.now();
    killQuietly(attempt.pids!.shim.pid);
    const end = await attempt.end;
    expect(end).toMatchObject({ exit: null, said: { status: 'ready' } });
    expect(end.endedAt).toBeGreaterThanOrEqual(killedAt);
    expect(await adopt(attempt.folder)).toMatchObject({ state: 'died' });
    expect(markedWith(attempt.folder).length).toBeGreaterThan(1);
    expect(await attempt.terminate({ graceMs: 1_000 })).toMatchObject({ left: 0 });
    await eventually(
      () => markedWith(attempt.folder),
      (left) => left.length === 0,
    );
  });

  it('whose shim is killed after it was adopted has died as well', async () => {
    const home = aHome();
    const attempt = await started(aRunner(), home, { text: 'echo run ready >&3; sleep 120' });
    await eventually(
      () => attempt.said.status,
      (status) => status === 'ready',
    );
    const answer = await aRunner().adopt(attempt.folder);
    if (answer.state === 'never-started') throw new Error('it was');
    expect(answer.state).toBe('running');
    killQuietly(attempt.pids!.shim.pid);
    expect((await answer.attempt.end).exit).toBeNull();
    await answer.attempt.terminate({ graceMs: 0 });
  });

  it('gets answers on fd 4 from its adopter, and processed reports are not delivered again', async () => {
    const home = aHome();
    const text =
      'for q in a b; do echo "dup 0-X-$q" >&3; read -r answer <&4; echo "$q: $answer"; while [ ! -e "go-$q" ] && [ $SECONDS -lt 120 ]; do sleep 0.02; done; done';
    const asked: string[] = [];
    const first = aRunner();
    const attempt = await started(first, home, {
      text,
      listener: {
        onReports: ({ heard, to }) => {
          for (const { verb } of heard) if (verb.kind === 'dup') asked.push(`first ${verb.dest}`);
          attempt.answer('ok 1');
          attempt.heard(to);
        },
      },
    });
    await eventually(
      () => existsSync(filesOf(attempt.folder).log) && logOf(attempt),
      (log) => log === 'a: ok 1\n',
    );
    await first.stop();
    const second = aRunner();
    const answer = await second.adopt(attempt.folder, {
      listener: {
        onReports: ({ heard }) => {
          for (const { verb } of heard) if (verb.kind === 'dup') asked.push(`second ${verb.dest}`);
          if (answer.state === 'running') answer.attempt.answer('ok 2');
        },
      },
    });
    for (const q of ['a', 'b']) await once(spawn('touch', [join(attempt.folder, 'work', `go-${q}`)]), 'close');
    if (answer.state !== 'running') throw new Error(answer.state);
    expect((await answer.attempt.end).exit?.status).toBe(0);
    expect(logOf(attempt)).toBe('a: ok 1\nb: ok 2\n');
    expect(asked).toEqual(['first a', 'second b']);
  });

  it('that does not read its answers does not block the runner', async () => {
    const attempt = await started(aRunner(), aHome(), { text: 'echo run ready >&3; sleep 120' });
    await eventually(
      () => attempt.said.status,
      (status) => status === 'ready',
    );
    const answers = Array.from({ length: 300 }, () => attempt.answer('x'.repeat(1_000)));
    expect(answers[0]).toBe(true);
    expect(answers.at(-1)).toBe(false);
    await attempt.terminate({ graceMs: 0 });
    await attempt.end;
    expect(attempt.answer('too late')).toBe(false);
  });
});

describe('an adopter and a shim', () => {
  it('agree that an incomplete start request starts nothing', async () => {
    const home = aHome();
    const folder = aFolder(home);
    const { length } = aShimText(folder, '/bin/true');
    for (const cut of [Math.floor(length / 2), length - 20, length - 3, length - 2])
      await once(aShim(folder, '/bin/true', { cut }), 'exit');
    expect(existsSync(filesOf(folder).pid)).toBe(false);
    await once(aShim(folder, '/bin/true'), 'exit');
    expect(readExit(folder)?.status).toBe(0);
  });

  it('agree on whether an attempt was started, in either order', async () => {
    const home = aHome();
    const script = aScript(home, 'echo ran');
    const outcomes = new Set<string>();
    // On a busy machine a shim needs longer to start: the delays grow until both outcomes were seen.
    for (let round = 0; round < 60 || (round < 600 && outcomes.size < 2); round += 1) {
      const folder = aFolder(home);
      const exited = once(aShim(folder, script), 'exit');
      await sleep((round % 12) * 0.7 * Math.ceil((round + 1) / 60));
      const isWithdrawn = withdraw(folder);
      await exited;
      expect(existsSync(filesOf(folder).log)).toBe(!isWithdrawn);
      expect(existsSync(filesOf(folder).exit)).toBe(!isWithdrawn);
      outcomes.add(isWithdrawn ? 'withdrawn' : 'started');
    }
    expect(outcomes).toEqual(new Set(['withdrawn', 'started']));
  });

  it('agree that an attempt without a start never starts', async () => {
    const folder = aFolder(aHome());
    expect(await adopt(folder)).toEqual({ state: 'never-started' });
    expect(await adopt(folder)).toEqual({ state: 'never-started' });
  });

  it('report died when the shim ended before it wrote its pid', async () => {
    const folder = aFolder(aHome());
    await once(spawn('touch', [filesOf(folder).pid]), 'close');
    expect(await adopt(folder)).toEqual({ state: 'died', record: null });
    const answer = await aRunner().adopt(folder);
    expect(answer.state === 'died' && (await answer.attempt.end).exit).toBeNull();
  });
});

describe('a runner process that dies', () => {
  it('is restarted with backoff, reports its health, and pending starts are made', async () => {
    const home = aHome();
    const deaths: number[] = [];
    const runner = aRunner({ onHealth: (health) => void (health.isUp || deaths.push(health.deaths)) });
    for (let death = 1; death <= 3; death += 1) {
      const { pid } = await eventually(
        () => runner.health(),
        ({ isUp }) => isUp,
      );
      killQuietly(pid ?? 0);
      await eventually(
        () => runner.health(),
        (health) => health.deaths === death && !health.isUp,
      );
    }
    expect(runner.health()).toMatchObject({ isUp: false, deaths: 3, lastProblem: expect.stringContaining('SIGKILL') });
    expect(runner.health().nextStartAt).toBeGreaterThan(Date.now() - 1_000);
    expect(deaths).toEqual([1, 2, 3]);
    const attempt = await started(runner, home, { text: 'echo hello' });
    expect((await attempt.end).exit?.status).toBe(0);
  });

  it('with pending starts loses none of them: each has run, or will never run', async () => {
    const home = aHome();
    const runner = aRunner();
    const script = aScript(home, 'echo ran');
    const seen = new Set<boolean>();
    // A kill that comes too late or too early proves nothing, so there are several.
    for (let kills = 0; kills < 10 && seen.size < 2; kills++) {
      const { pid } = await eventually(
        () => runner.health(),
        ({ isUp }) => isUp,
      );
      const folders = Array.from({ length: 40 }, () => aFolder(home));
      const starts = folders.map((folder) => runner.start(aRequest(folder, script)));
      await starts[0];
      killQuietly(pid ?? 0);
      for (const [index, answer] of (await Promise.all(starts)).entries()) {
        if (answer.ok) expect((await answer.attempt.end).exit?.status).toBe(0);
        else expect(answer.reason).toBe('lost');
        expect(existsSync(filesOf(folders[index] ?? '').log)).toBe(answer.ok);
        seen.add(answer.ok);
      }
    }
    expect(seen).toEqual(new Set([true, false]));
  });

  it.each([
    ['SIGCONT', 'continues', true],
    ['SIGKILL', 'dies', false],
  ] as const)('hangs with a pending start and %s: it %s, and so does the start', async (signal, _, isRun) => {
    const home = aHome();
    const runner = aRunner();
    const { pid } = await eventually(
      () => runner.health(),
      ({ isUp }) => isUp,
    );
    process.kill(pid ?? 0, 'SIGSTOP');
    const folder = aFolder(home);
    const starting = runner.start(aRequest(folder, aScript(home, 'echo ran')));
    process.kill(pid ?? 0, signal);
    const answer = await starting;
    expect(answer.ok).toBe(isRun);
    if (answer.ok) expect((await answer.attempt.end).exit?.status).toBe(0);
    else expect(answer.reason).toBe('lost');
    expect(existsSync(filesOf(folder).log)).toBe(isRun);
    const next = await started(runner, home, { text: 'echo next' });
    expect((await next.end).exit?.status).toBe(0);
  });

  it('refuses what cannot be started, with the reason', async () => {
    const home = aHome();
    const runner = aRunner();
    const tooLong = aRequest(aFolder(home), '/bin/true', { env: { BIG: 'x'.repeat(200_000) } });
    expect(await runner.start(tooLong)).toMatchObject({
      ok: false,
      reason: 'refused',
      message: expect.stringContaining('E2BIG'),
    });
    const nowhere = aRequest(aFolder(home), '/bin/true', { cwd: '/nowhere' });
    expect(await runner.start(nowhere)).toMatchObject({ ok: false, reason: 'refused' });
  });

  it('exits with its parent, and stop is idempotent', async () => {
    const runner = aRunner();
    const { pid } = await eventually(
      () => runner.health(),
      ({ isUp }) => isUp,
    );
    await runner.stop();
    await runner.stop();
    expect(existsSync(`/proc/${pid}/cwd`)).toBe(false);
    const folder = aFolder(aHome());
    expect(await runner.start(aRequest(folder, '/bin/true'))).toMatchObject({ ok: false, reason: 'lost' });
  });
});
