/** Commands whose reader closes the pipe, without a node: each opens the store in its own process and thread. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { testSize } from '../support/test-size.ts';
import { CliBench } from './cli-bench.ts';

const bench = new CliBench();
const JOBS = 300;
const RUNS = testSize({ small: 8, full: 60 });

beforeAll(async () => {
  const longhaul = await bench.longhaul();
  await longhaul.queue('films').configure({});
  await longhaul.queue('films').addAll(
    Array.from({ length: JOBS }, (_, n) => n),
    (_n, index) => ({ id: `film-${index}` }),
  );
});

describe('a closed pipe', () => {
  it('ends a command quietly with 0, every time', { retry: 0 }, async () => {
    const line = 'for run in $(seq RUNS); do longhaul ls --json --limit 300 | true; echo ${PIPESTATUS[0]}; done';
    const { stdout, stderr } = await bench.shell(line.replace('RUNS', String(RUNS)));
    expect(stdout.trim().split('\n')).toEqual(Array.from({ length: RUNS }, () => '0'));
    expect(stderr).not.toContain('terminate called');
  });

  it('on both outputs ends a command quietly as well', async () => {
    const { stdout } = await bench.shell('longhaul ls 2>&1 | true; echo ${PIPESTATUS[0]}');
    expect(stdout).toBe('0\n');
  });

  it('does not interrupt a command that changes something', async () => {
    const { stdout } = await bench.shell('longhaul cancel --queue films --yes | true; echo ${PIPESTATUS[0]}');
    expect(stdout).toBe('0\n');
    expect((await (await bench.longhaul()).queue('films').count()).cancelled).toBe(JOBS);
  });

  it('keeps the exit code of a refusal', async () => {
    const { stdout } = await bench.shell('longhaul cancel film-1 unknown | true; echo ${PIPESTATUS[0]}');
    expect(stdout).toBe('1\n');
  });

  it('ends the printing of a long log, and stops following a running job', async () => {
    const longhaul = await bench.longhaul();
    await longhaul.queue('logged').add({}, { id: 'logged' });
    await longhaul.store.jobs.claim({ queues: ['logged'], worker: 'w', limit: 1, requestId: 'r', leaseMs: 600_000 });
    const directory = join(bench.home, 'jobs/logged/attempts/1');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'log'), 'a line of a log\n'.repeat(200_000));
    const { stdout } = await bench.shell(
      'for option in "" -f; do longhaul logs logged $option | head -1; echo ${PIPESTATUS[0]}; done',
    );
    expect(stdout).toBe('a line of a log\n0\na line of a log\n0\n');
  });
});

describe('an output that cannot be written', () => {
  it('causes an error with the reason', async () => {
    const { code, stderr } = await bench.shell('longhaul ls > /dev/full');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('ENOSPC') });
  });
});
