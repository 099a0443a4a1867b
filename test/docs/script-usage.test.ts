/** Scripts and benchmarks print their header comment as help, and no stack trace for a bad argument. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Runs a program; asynchronous, so that several can run at once. */
function runProgram(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

const PROGRAMS = ['bench/core.mjs', 'bench/http.mjs', 'scripts/test.mjs', 'scripts/mutants.mjs'];

it.each(PROGRAMS)('%s has help, and prints it for a bad argument', async (program) => {
  const [help, wrong] = await Promise.all([runProgram(program, '--help'), runProgram(program, '--hlep')]);
  expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^`npm .*`: /) });
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--hlep') });
  expect(wrong.stderr).toContain(help.stdout);
});

it('npm run bench lists the benchmarks and prints the help of one', async () => {
  const [all, one, none] = await Promise.all(
    [['--help'], ['relay', '--help'], ['nothing']].map((args) => runProgram('scripts/bench.mjs', ...args)),
  );
  expect(all).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Benchmarks: core, handlers, http, long, qless, relay,'),
  });
  expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('--size MB') });
  expect(none).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no benchmark nothing. Benchmarks: '),
  });
});
