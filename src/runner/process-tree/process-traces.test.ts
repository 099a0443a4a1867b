import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readStat } from './process-stat.ts';
import { listProcesses, takeSurvey } from './process-survey.ts';
import { isInside, placesOf, readEnvironment } from './process-traces.ts';

/** A process that has said that it stands. */
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
  it('is read by name, wherever the name stands and however long it all is', async () => {
    const pid = await aProcess('', { env: { FIRST: 'a', BIG: 'x'.repeat(60_000), MARK: '/a b/c', EMPTY: '' } });
    expect(['FIRST', 'MARK', 'EMPTY', 'ARK', 'NONE'].map((name) => readEnvironment(pid, name))).toEqual([
      'a',
      '/a b/c',
      '',
      null,
      null,
    ]);
  });

  it('is none for a process that is gone', () => {
    expect(readEnvironment(4_194_304, 'PATH')).toBeNull();
  });
});

describe('the places of a process', () => {
  it('are where it works and what it writes, not what it reads', async () => {
    const folder = aFolder();
    const pid = await aProcess(`exec 5>written 6>>appended; : > only-read; exec 7<only-read`, { cwd: folder });
    const inside = placesOf(pid).filter((place) => isInside(place, folder));
    expect(inside.sort()).toEqual([folder, join(folder, 'appended'), join(folder, 'written')]);
  });

  it('do not take a name that only begins alike for the same folder', () => {
    expect([isInside('/a/b', '/a'), isInside('/a', '/a'), isInside('/ab', '/a')]).toEqual([true, true, false]);
  });
});

describe('a look at all processes', () => {
  it('finds the living, the newest first, and is shared by those who ask together', async () => {
    const pid = await aProcess('');
    const [one, other] = await Promise.all([takeSurvey(), takeSurvey()]);
    expect(one).toBe(other);
    expect(one.all.map((each) => each.pid)).toEqual(expect.arrayContaining([pid, process.pid]));
    expect(await takeSurvey()).not.toBe(one);
  });

  it('reads a zombie no more than once', async () => {
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
