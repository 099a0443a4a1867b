/** The scripts and benchmarks of the repository: their help is what opens their file, and a wrong word is no stack trace. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** One after the other would take as many starts of Node as there are words. */
function said(...words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

const PROGRAMS = ['bench/core.mjs', 'bench/http.mjs', 'scripts/test.mjs', 'scripts/mutants.mjs'];

it.each(PROGRAMS)('%s has help, and says what would be right', async (program) => {
  const [help, wrong] = await Promise.all([said(program, '--help'), said(program, '--hlep')]);
  expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^`npm .*`: /) });
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--hlep') });
  expect(wrong.stderr).toContain(help.stdout);
});

it('npm run bench names the benchmarks there are, and gives the help of one', async () => {
  const [all, one, none] = await Promise.all(
    [['--help'], ['relay', '--help'], ['nothing']].map((words) => said('scripts/bench.mjs', ...words)),
  );
  expect(all).toMatchObject({ code: 0, stdout: expect.stringContaining('There are: core, http, relay,') });
  expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('--size MB') });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no benchmark nothing; there are') });
});
