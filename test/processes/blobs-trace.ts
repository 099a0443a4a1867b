/** Runs a step of blobs under strace: to see its system calls, or to have one of them kill it or fail. */
import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { spawnGuarded } from '../support/guarded-process.ts';
import { pathOfFixture } from '../support/processes.ts';

/** What changes something on disk. */
export const CALLS = 'fsync,fdatasync,rename,mkdir,unlink,link,pwrite64,utimensat'.split(',');

const canTrace = (...options: readonly string[]): boolean =>
  spawnSync('strace', [...options, '-f', '-qq', '-o', '/dev/null', 'true']).status === 0;

/** Where it can, it stops a program at the calls that it is asked about, and not at every call. */
const quickly = canTrace('--seccomp-bpf') ? ['--seccomp-bpf'] : [];

/** Whether processes can be traced here; suites that need it are skipped, and counted, where they cannot. */
export const hasStrace = quickly.length > 0 || canTrace();

export interface StepRun {
  /** What it said, or null when it was killed before. */
  readonly said: { readonly type: 'done' | 'failed'; readonly code?: string } | null;
  /** Its calls on files, in order, such as `fsync(18</…/uploads/x.part>) = 0`. */
  readonly calls: readonly string[];
}

export interface Injection {
  readonly call: string;
  /** Which of its calls of that name, from 1. */
  readonly when: number;
  /** `signal=KILL`, `error=EIO` … */
  readonly fault: string;
}

/** All file work happens in one thread, since strace counts the calls of each by itself. */
export async function runStep(folder: string, args: readonly string[], injection?: Injection): Promise<StepRun> {
  const log = join(folder, 'strace.log');
  const inject = injection ? ['-e', `inject=${injection.call}:${injection.fault}:when=${injection.when}`] : [];
  const trace = [...quickly, '-f', '-y', '-qq', '-s', '0', '-o', log, '-e', `trace=${CALLS.join(',')}`, ...inject];
  const child = await spawnGuarded('strace', [...trace, process.execPath, pathOfFixture('blobs-step.mjs'), ...args], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.resume();
  await child.ended;
  const calls = callsIn(await readFile(log, 'utf8'), folder);
  await rm(log);
  return { said: output.endsWith('\n') ? (JSON.parse(output) as StepRun['said']) : null, calls };
}

function callsIn(log: string, folder: string): string[] {
  const lines = log.split('\n').map((line) => line.replace(/^\d+\s+/, ''));
  return lines.filter((line) => /^\w+\(/.test(line) && line.includes(folder));
}

export const nameOf = (call: string): string => call.slice(0, call.indexOf('('));
