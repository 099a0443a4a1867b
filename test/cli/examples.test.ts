/**
 * Runs every example of the help beside a running node, in the order of the command table. A shell runs the examples that
 * need one; the others are one command each.
 */
import { beforeAll, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/table/command-table.ts';
import { CliBench, type CommandResult } from './cli-bench.ts';

const bench = new CliBench();
const SERVE = 'longhaul serve --home ./longhaul';

/** The jobs of the examples: films that are done, running, failed and waiting, and a draft. */
beforeAll(async () => {
  const film = [
    'echo frame 1 of film; case $LONGHAUL_JOB_ID in',
    `  film-8) until [ -e ${bench.folder}/go-on ] || [ $SECONDS -gt 300 ]; do sleep 0.05; done ;;`,
    '  film-9) exit 3 ;;',
    'esac; echo made > out/out.txt',
  ];
  bench.queue('films', film.join('\n'), { concurrency: 8 });
  bench.file('rules.json', '{"rules":[{"name":"eu","match":{"tags":["eu"]},"balance":["a.example","b.example"]}]}');
  bench.file('notes.txt', 'remember the milk');
  bench.file('resize.sh', '#!/bin/sh\ntrue\n', 0o755);
  bench.file('Makefile', 'all:\n\t@echo depth $(DEPTH)\n');
  await bench.serve(bench.startShell(`exec ${SERVE}`, { LONGHAUL_PORT: '0' }));
  const films = (await bench.longhaul()).queue('films');
  for (const number of [3, 4, 7, 8, 9]) await films.add(null, { id: `film-${number}` });
  for (const number of [5, 6]) await films.add(null, { id: `film-${number}`, delay: '1h' });
  await films.add(null, { id: 'film-2', draft: true });
  for (const id of ['film-3', 'film-7']) await bench.until(id, ({ state }) => state === 'done');
  await bench.until('film-9', ({ state }) => state === 'failed');
  await bench.until('film-8', ({ lease }) => typeof lease?.startedAt === 'number');
});

/** Actions that must precede an example. */
const before: Readonly<Record<string, () => Promise<unknown>>> = {
  'longhaul drain --timeout 1h': () => bench.run('resume', 'film-8').then(() => bench.file('go-on', '')),
  [`longhaul run -- sh -c 'longhaul report progress 40 first pass'`]: () => bench.run('resume'),
};

/** Words that a shell would pass on as they are. `backup` and `restore` set the umask of their process, so each needs its own. */
const isPlain = (line: string): boolean => /^longhaul (?!backup |restore )[\w./:=@+ -]+$/.test(line);

const run = (line: string): Promise<CommandResult> =>
  isPlain(line) ? bench.run(...line.split(' ').slice(1)) : bench.shell(line);

const examples = COMMANDS.flatMap(({ name, examples }) => examples.map(({ line }) => [line, name] as const));

it.each(examples.filter(([line]) => line !== SERVE))('%s', async (line, name) => {
  await before[line]?.();
  const { code, stderr } = await run(line);
  expect(stderr).not.toMatch(/^\s+at /m);
  // The exit code of doctor depends on the machine that runs the tests.
  if (name === 'doctor') expect([0, 1, 2]).toContain(code);
  else expect({ code, stderr }).toMatchObject({ code: 0 });
});
