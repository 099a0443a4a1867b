/** Starts `longhaul serve` as a process that ends with this one, and keeps its output in a file. */
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { spawnGuarded } from '../support/guarded-process.ts';
import type { RunningProcess } from './member.ts';

export interface NodeOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where its output is appended. */
  readonly log: string;
}

const START_MS = 60_000;

/** Resolves when it serves. */
export async function startNode({ program, args, env, log }: NodeOptions): Promise<RunningProcess> {
  const child = await spawnGuarded(process.execPath, [program, ...args], {
    env: { ...process.env, LONGHAUL_LOG_FORMAT: 'pretty', ...env },
  });
  const file = createWriteStream(log, { flags: 'a' });
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const end = (signal: NodeJS.Signals) => {
    child.signal(signal);
    return child.ended;
  };
  try {
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.startsWith('longhaul serves')) resolve();
      });
      setTimeout(() => reject(new Error(`the node did not serve in ${START_MS} ms`)), START_MS).unref();
      void child.ended.then(({ code, signal }) => reject(new Error(`the node ended with ${signal ?? code}`)));
    });
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
  return {
    pid: child.pid,
    ended: child.ended,
    send: () => undefined,
    kill9: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
    stop: () => child.signal('SIGSTOP'),
    cont: () => child.signal('SIGCONT'),
  };
}
