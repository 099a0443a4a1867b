/** A shell that runs the steps of a page one after another, as a reader would, and stops at the first that fails. */
import { expect } from 'vitest';
import { waitFor } from '../../src/testing/index.ts';
import { spawnGuarded } from './guarded-process.ts';

interface ShellOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ShellSession {
  /** Everything that was printed so far. */
  readonly output: string;
  /** Runs a step and returns what was printed meanwhile. */
  run(step: string): Promise<string>;
  /** Ends what the steps left running, and the shell. */
  close(): Promise<void>;
}

export async function openShell({ cwd, env = {} }: ShellOptions): Promise<ShellSession> {
  const shell = await spawnGuarded('bash', ['-e'], {
    cwd,
    env: { ...process.env, HOME: cwd, LONGHAUL_STORE: '', ...env },
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  let steps = 0;
  return {
    get output() {
      return output;
    },
    async run(step) {
      steps += 1;
      const [mark, from] = [`-- step ${steps} is done --`, output.length];
      shell.stdin.write(`${step}\necho '${mark}'\n`);
      await waitFor(
        `step ${steps}`,
        async () => {
          if (!output.includes(mark) && !shell.isAlive) expect.fail(`step ${steps} failed:\n${step}\n${output}`);
          return output.includes(mark) || null;
        },
        { deadlineMs: 110_000 },
      );
      return output.slice(from);
    },
    async close() {
      if (shell.isAlive) shell.stdin.write('set +e; kill $(jobs -p) 2>/dev/null; wait; exit 0\n');
      await shell.ended;
    },
  };
}
