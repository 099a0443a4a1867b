/** Commands that share a process: each has its own arguments, variables and exit code, and none may affect the next. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { CliSession } from './cli-session.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-session-'));
const program = join(folder, 'program.mjs');
writeFileSync(
  program,
  `import { Worker } from 'node:worker_threads';
  process.exitCode = 3;
  process.stdout.write(process.argv.slice(3).join(' ') + (process.env.GIVEN ?? 'none'));
  process.stderr.write(Buffer.from('é').subarray(0, 1));
  process.stderr.write(Buffer.from('é').subarray(1));
  eval(process.argv[2]);
  for await (const _chunk of process.stdin) throw new Error('standard input is not empty');`,
);
const session = new CliSession(folder, { program, limitMs: 200 });
afterAll(async () => {
  await session.close();
  rmSync(folder, { recursive: true });
});

it('gives each command its own arguments, variables, outputs and exit code', async () => {
  const first = session.run(['process.exitCode = 4', 'one', 'two'], { GIVEN: '!' });
  const second = session.run([''], {});
  expect(await first).toEqual({ code: 4, stdout: 'one two!', stderr: 'é' });
  expect(await second).toEqual({ code: 3, stdout: 'none', stderr: 'é' });
});

it.each([
  ['process.exitCode = undefined', 'it set no exit code'],
  ['process.chdir("/")', 'cwd was'],
  ['process.umask(0o77)', 'umask was'],
  ['process.env.LEFT = "1"', 'env was'],
  ['process.on("SIGINT", () => undefined)', 'listeners was'],
  ['setInterval(() => undefined, 1000)', 'resources was'],
  ['new Worker("setInterval(() => undefined, 1000)", { eval: true })', 'threads was'],
])('rejects a command that leaves something behind: %s', async (line, problem) => {
  const own = new CliSession(folder, { program, limitMs: 200 });
  await expect(own.run([line], {})).rejects.toThrow(problem);
  await own.close();
});

it.each(['process.exit(0)', 'throw new Error("unexpected")'])(
  'rejects a command that ends the process: %s',
  async (line) => {
    const own = new CliSession(folder, { program, limitMs: 200 });
    await expect(own.run([line], {})).rejects.toThrow('the process ended during');
    await own.close();
  },
);
