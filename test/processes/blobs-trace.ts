/** Runs an operation on blobs under strace: lists its system calls, or makes one of them kill it or fail. */
import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { spawnGuarded } from '../support/guarded-process.ts';
import { pathOfFixture } from '../support/processes.ts';

/** The system calls that change the disk. */
export const CALLS = 'fsync,fdatasync,rename,mkdir,unlink,link,pwrite64,utimensat'.split(',');

const canTrace = (...options: readonly string[]): boolean =>
  spawnSync('strace', [...options, '-f', '-qq', '-o', '/dev/null', 'true']).status === 0;

/** With seccomp, strace stops the program only at the traced calls, which is faster. */
const fastOptions = canTrace('--seccomp-bpf') ? ['--seccomp-bpf'] : [];

/** Whether processes can be traced here; suites that need it are skipped and counted otherwise. */
export const hasStrace = fastOptions.length > 0 || canTrace();

export interface StepRun {
  /** What it printed, or null if it was killed before. */
  readonly output: { readonly type: 'done' | 'failed'; readonly code?: string } | null;
  /** Its calls on files, in order, such as `fsync(18</…/uploads/x.part>) = 0`. */
  readonly calls: readonly string[];
}

export interface Injection {
  readonly call: string;
  /** The number of the call among those of its name, from 1. */
  readonly when: number;
  /** `signal=KILL`, `error=EIO` … */
  readonly fault: string;
}

/** Uses one thread for all file operations, since strace counts the calls of each thread separately. */
export async function runStep(folder: string, args: readonly string[], injection?: Injection): Promise<StepRun> {
  const log = join(folder, 'strace.log');
  const inject = injection ? ['-e', `inject=${injection.call}:${injection.fault}:when=${injection.when}`] : [];
  const trace = [...fastOptions, '-f', '-y', '-qq', '-s', '0', '-o', log, '-e', `trace=${CALLS.join(',')}`, ...inject];
  const child = await spawnGuarded('strace', [...trace, process.execPath, pathOfFixture('blobs-step.mjs'), ...args], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.resume();
  await child.ended;
  const calls = callsIn(await readFile(log, 'utf8'), folder);
  await rm(log);
  return { output: text.endsWith('\n') ? (JSON.parse(text) as StepRun['output']) : null, calls };
}

function callsIn(log: string, folder: string): string[] {
  const lines = log.split('\n').map((line) => line.replace(/^\d+\s+/, ''));
  return lines.filter((line) => /^\w+\(/.test(line) && line.includes(folder));
}

export const nameOf = (call: string): string => call.slice(0, call.indexOf('('));
