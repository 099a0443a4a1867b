import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readStat } from './process-stat.ts';
import { listProcesses, takeSurvey } from './process-survey.ts';
import { isInside, placesOf, readEnvironment } from './process-traces.ts';

/** Starts a process and waits until it is ready. */
async function aProcess(text: string, options: { env?: Record<string, string>; cwd?: string } = {}): Promise<number> {
  const child = spawn('bash', ['-c', `${text}\necho ready\nread -r _`], {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'], ...options.env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}

function aFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'longhaul-traces-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('the environment of a process', () => {
  it('is read by name, at any position and length', async () => {
    const pid = await aProcess('', {
      env: { FIRST: 'a', BIG: 'x'.repeat(60_000), MARK: '/a b/c', EMPTY: '' },
    });
    expect(['FIRST', 'MARK', 'EMPTY', 'ARK', 'NONE'].map((name) => readEnvironment(pid, name))).toEqual([
      'a',
      '/a b/c',
      '',
      null,
      null,
    ]);
  });

  it('is null for a process that is gone', () => {
    expect(readEnvironment(4_194_304, 'PATH')).toBeNull();
  });
});

describe('the places of a process', () => {
  it('are its working directory and the files it writes, not those it reads', async () => {
    const folder = aFolder();
    const pid = await aProcess(`exec 5>written 6>>appended; : > only-read; exec 7<only-read`, { cwd: folder });
    const inside = placesOf(pid).filter((place) => isInside(place, folder));
    expect(inside.sort()).toEqual([folder, join(folder, 'appended'), join(folder, 'written')]);
  });

  it('do not confuse directories with a common prefix', () => {
    expect([isInside('/a/b', '/a'), isInside('/a', '/a'), isInside('/ab', '/a')]).toEqual([true, true, false]);
  });
});

describe('a process survey', () => {
  it('lists living processes, the newest first, and is shared by concurrent callers', async () => {
    const pid = await aProcess('');
    const [one, other] = await Promise.all([takeSurvey(), takeSurvey()]);
    expect(one).toBe(other);
    expect(one.all.map((each) => each.pid)).toEqual(expect.arrayContaining([pid, process.pid]));
    expect(await takeSurvey()).not.toBe(one);
  });

  it('reads a zombie only once', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(chunk.toString());
    const until = performance.now() + 5_000;
    while (readStat(pid)?.state !== 'Z' && performance.now() < until) await new Promise(setImmediate);
    const survey = await takeSurvey();
    expect(survey.all.some((each) => each.pid === pid)).toBe(false);
    expect(listProcesses()).not.toContain(pid);
  });
});
