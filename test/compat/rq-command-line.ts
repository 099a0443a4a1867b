/** RQ's command line over a node: many commands in one process (test/fixtures/rq-session.mjs), or each in its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import { spawnGuarded } from '../support/guarded-process.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunRq = (...words: readonly string[]) => Promise<CommandResult>;

const main = join(import.meta.dirname, '../../dist/cli/main.js');
const session = join(import.meta.dirname, '../fixtures/rq-session.mjs');
/** The program that is linked as `rq`. */
export const rqProgram = join(import.meta.dirname, '../../dist/cli/rq-main.js');

const envOf = (home: string): NodeJS.ProcessEnv => ({ ...process.env, LONGHAUL_HOME: home });

/** Runs commands one after another in one process, in the data directory. It starts with the first, and ends with the file. */
export function rqSession(home: string): RunRq {
  let opened: ReturnType<typeof openSession> | null = null;
  afterAll(async () => (await opened)?.close());
  return async (...words) => {
    opened ??= openSession(home);
    return (await opened).run(words);
  };
}

async function openSession(home: string) {
  const child = await spawnGuarded(process.execPath, [session, main], { cwd: home, env: envOf(home) });
  let problems = '';
  child.stderr.on('data', (chunk) => (problems += String(chunk)));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(words: readonly string[]): Promise<CommandResult> {
      child.stdin.write(`${JSON.stringify(words)}\n`);
      const { value } = (await answers.next()) as { value?: string };
      if (value === undefined) throw new Error(`the commands of rq ended: ${problems}`);
      return JSON.parse(value) as CommandResult;
    },
    async close(): Promise<void> {
      child.stdin.end();
      await child.ended;
    },
  };
}

/** Runs a command in a process of its own, as a shell does. */
export function runRqProgram(program: string, home: string, words: readonly string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], { env: envOf(home) }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
