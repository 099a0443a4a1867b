/** Limits, usage accounting and logs of scripts. */
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesOf } from '../../src/runner/attempt/attempt-files.ts';
import { MAX_SAMPLES, type Usage } from '../../src/runner/attempt/usage.ts';
import { readLogIndex } from '../../src/runner/log/log-index.ts';
import { readLog, readLogLines } from '../../src/runner/log/read-log.ts';
import { searchLog } from '../../src/runner/log/search-log.ts';
import { testSize } from '../support/test-size.ts';
import { aHome, aRunner, eventually, logOf, started } from './runner-workbench.ts';

const isRoot = process.getuid?.() === 0;
const MB = 1024 * 1024;
/** A Perl command that uses this much memory and then runs the code that follows. */
const perlWith = (megabytes: number): string => `perl -e 'our $x = "x"; $x x= ${megabytes} * 1024 * 1024; eval shift'`;

describe('limits', () => {
  it('of CPU time end a script with SIGXCPU', async () => {
    const attempt = await started(aRunner(), aHome(), {
      text: 'while [ $SECONDS -lt 60 ]; do :; done',
      request: { limits: { cpu: 1 } },
    });
    const { exit, usage } = await attempt.end;
    expect(exit?.signal).toBe('SIGXCPU');
    expect(usage.cpuSeconds).toBeGreaterThan(0.4);
  });

  it('of memory end the whole tree of a script, and only that', async () => {
    // The parent ignores TERM and uses little; its child is what uses the memory.
    const text = `trap '' TERM; ${perlWith(120)} 'sleep 12' & wait; sleep 3`;
    const runner = aRunner();
    const home = aHome();
    const [greedy, modest] = await Promise.all([
      started(runner, home, { text, maxMemoryBytes: 60 * MB }),
      started(runner, home, { text: `${perlWith(20)} 'sleep 1'`, maxMemoryBytes: 60 * MB }),
    ]);
    const { oom, overMemory, exit } = await greedy.end;
    expect({ oom, limitBytes: overMemory?.limitBytes }).toEqual({ oom: 'limit', limitBytes: 60 * MB });
    expect(overMemory?.usedBytes).toBeGreaterThan(60 * MB);
    expect(exit?.signal).toBe('SIGKILL');
    expect(await greedy.processes()).toEqual([]);
    expect(await modest.end).toMatchObject({ oom: 'no', overMemory: null, exit: { status: 0 } });
    // A node that adopts the ended attempt knows why it ended.
    const answer = await aRunner().adopt(greedy.folder);
    expect(answer.state === 'ended' && (await answer.attempt.end).overMemory).toEqual(overMemory);
  });

  it('of memory count real memory: neither address space nor what processes share', async () => {
    const fork = 'fork or last for 1 .. 3; select undef, undef, undef, 1.3';
    const runner = aRunner();
    const home = aHome();
    const [shares, reserves] = await Promise.all([
      started(runner, home, { text: `${perlWith(30)} '${fork}'`, maxMemoryBytes: 100 * MB }),
      started(runner, home, {
        text: `exec "${process.execPath}" -e 'setTimeout(() => 0, 1200)'`,
        maxMemoryBytes: 150 * MB,
      }),
    ]);
    expect(await shares.end).toMatchObject({ overMemory: null, exit: { status: 0 } });
    expect(await reserves.end).toMatchObject({ overMemory: null, exit: { status: 0 } });
  });

  it('of address space fail only the script that exceeds them', async () => {
    const text = 'perl -e \'my $x = "x" x (400 * 1024 * 1024); print "had it\\n"\' && echo went well';
    const runner = aRunner();
    const home = aHome();
    const [limited, free] = await Promise.all([
      started(runner, home, { text, request: { limits: { addressSpace: 200 * MB } } }),
      started(runner, home, { text }),
    ]);
    expect((await limited.end).exit?.status).not.toBe(0);
    expect((await free.end).exit?.status).toBe(0);
  });

  it('of file size end a script with SIGXFSZ', async () => {
    const attempt = await started(aRunner(), aHome(), {
      text: 'exec dd if=/dev/zero of=big bs=64k count=1000',
      request: { limits: { fileSize: MB } },
    });
    expect((await attempt.end).exit?.signal).toBe('SIGXFSZ');
    expect(statSync(join(attempt.folder, 'work', 'big')).size).toBe(MB);
  });

  it.runIf(isRoot)('of processes stop a fork bomb of that user only', async () => {
    // A user of its own, because the kernel counts all processes of a user together.
    const bomb = 'bomb() { [ $SECONDS -lt 20 ] && { bomb | bomb & } }; bomb; sleep 1; echo over';
    const attempt = await started(aRunner(), aHome(), {
      text: '',
      request: {
        cwd: '/',
        argv: ['/bin/bash', '-c', bomb],
        user: { uid: 61_234, gid: 61_234 },
        limits: { processes: 25, cpu: 20 },
      },
    });
    await attempt.end;
    expect(logOf(attempt)).toContain('fork');
    expect(await attempt.terminate({ graceMs: 0 })).toMatchObject({ left: 0 });
  });
});

describe('accounting', () => {
  it('samples a running process tree, and keeps the series and totals', async () => {
    const home = aHome();
    const text = `perl -e 'my $x = "x" x (60 * 1024 * 1024); my $until = time + 5; my $n = 0; $n++ while time < $until;' & head -c 20000000 /dev/zero > out; wait`;
    const attempt = await started(aRunner(), home, { text });
    await eventually(
      () => attempt.usage.samples.length,
      (count) => count > 0,
    );
    const { usage, endedAt, startedAt } = await attempt.end;
    expect(usage.cpuSeconds).toBeGreaterThan(0.2);
    expect(usage.peakRssBytes).toBeGreaterThan(60 * MB);
    expect(usage.peakProcesses).toBeGreaterThanOrEqual(2);
    expect(usage.writtenBytes).toBeGreaterThan(20_000_000);
    expect(usage.samples.length).toBeLessThanOrEqual(MAX_SAMPLES);
    expect(endedAt - startedAt).toBeGreaterThan(3_500);
    const saved = JSON.parse(readFileSync(filesOf(attempt.folder).usage, 'utf8')) as Usage;
    expect(saved).toEqual(usage);
    // An adopter continues from the saved usage.
    const answer = await aRunner().adopt(attempt.folder);
    expect(answer.state === 'ended' && (await answer.attempt.end).usage).toEqual(usage);
  });

  it('does not report a plain kill as out of memory', async () => {
    const attempt = await started(aRunner(), aHome(), { text: 'kill -KILL $$' });
    expect(await attempt.end).toMatchObject({ oom: 'no', exit: { signal: 'SIGKILL' } });
  });

  it('writes nothing for a short attempt', async () => {
    const attempt = await started(aRunner(), aHome(), { text: 'true' });
    await attempt.end;
    expect([filesOf(attempt.folder).usage, filesOf(attempt.folder).logIndex].some(existsSync)).toBe(false);
  });
});

describe('a log that is being written', () => {
  it('is read, searched and indexed while it grows, and complete at the end', async () => {
    const lines = testSize({ small: 30_000, full: 600_000 });
    const runner = aRunner();
    const before = process.memoryUsage().rss;
    const text = `perl -e '$| = 1; for (1 .. ${lines}) { print "line $_ ", "." x 90, "\\n" } sleep 3; print "the very last\\n"'`;
    const sizes: number[] = [];
    const attempt = await started(runner, aHome(), {
      text,
      listener: { onOutput: ({ size }) => void sizes.push(size) },
    });
    const found = await eventually(
      () => searchLog(attempt.folder, { text: `line ${lines} .` }),
      ({ matches }) => matches.length === 1,
      40_000,
    );
    expect(found.matches[0]).toMatchObject({ line: lines, text: expect.stringMatching(`^line ${lines} \\.+$`) });
    await eventually(
      () => readLogIndex(filesOf(attempt.folder).logIndex).entries.length,
      (count) => count > 2,
    );
    const piece = await readLogLines(attempt.folder, { from: lines - 1, count: 1 });
    expect(piece.bytes.toString()).toBe(`line ${lines - 1} ${'.'.repeat(90)}\n`);
    const { size } = attempt.log;
    const tail = await readLog(attempt.folder, { from: size - 200 }, { isRunning: true });
    expect(tail.bytes.toString()).toContain(`line ${lines} `);
    await attempt.end;
    // Measured before this test itself reads the whole log.
    const grown = process.memoryUsage().rss - before;
    expect(logOf(attempt).split('\n')).toHaveLength(lines + 2);
    expect(logOf(attempt).endsWith('the very last\n')).toBe(true);
    expect(sizes.at(-1)).toBe(statSync(filesOf(attempt.folder).log).size);
    process.stdout.write(
      `\nfigures: a log of ${Math.round(size / MB)} MB, resident memory + ${Math.round(grown / MB)} MB\n`,
    );
    expect(grown).toBeLessThan(100 * MB);
  });

  it('is cut at its cap while the script goes on', async () => {
    const text = `perl -e '$| = 1; for (1 .. 200000) { print "line $_ ", "." x 90, "\\n" } sleep 2; print "the very last\\n"'`;
    const attempt = await started(aRunner(), aHome(), { text, maxLogBytes: MB });
    const { exit } = await attempt.end;
    expect(exit?.status).toBe(0);
    const log = logOf(attempt);
    expect(log.length).toBeLessThan(MB);
    expect(log.startsWith('line 1 ')).toBe(true);
    expect(log.endsWith('the very last\n')).toBe(true);
    expect(log.match(/\n\[longhaul: \d+ bytes of output were dropped here/g)).toHaveLength(1);
    expect(attempt.log.generation).toBeGreaterThan(0);
  });

  it('starts a new generation when a script truncates its own output by name', async () => {
    const attempt = await started(aRunner(), aHome(), {
      text: 'echo first line is lost; while [ ! -e go ] && [ $SECONDS -lt 120 ]; do sleep 0.02; done; echo oops > /dev/stdout; sleep 1',
    });
    await eventually(
      () => attempt.log.size,
      (size) => size > 5,
    );
    // The monitor adds an entry only after a second.
    await eventually(() => existsSync(filesOf(attempt.folder).logIndex), Boolean);
    appendFileSync(join(attempt.folder, 'work', 'go'), '');
    await attempt.end;
    expect(logOf(attempt)).toBe('oops\n');
    expect(attempt.log).toEqual({ size: 5, generation: 1 });
  });
});

describe('a script that reports without end', () => {
  it('costs no memory and does not delay other scripts', async () => {
    const home = aHome();
    const runner = aRunner();
    const before = process.memoryUsage().rss;
    const noisy = await started(runner, home, {
      text: 'head -c 100000000 /dev/zero | tr "\\0" x >&3; yes "run noise" | head -n 2000000 >&3; echo >&3; echo done at last >&3',
    });
    const startedAt = performance.now();
    for (let round = 0; round < 5; round += 1) {
      const other = await started(runner, home, { text: 'echo done other >&3' });
      expect((await other.end).said.completion).toMatchObject({ kind: 'done' });
    }
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    const { said, exit } = await noisy.end;
    expect(exit?.status).toBe(0);
    expect(said).toMatchObject({ status: 'at last', completion: { kind: 'done' } });
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MB);
  });
});
