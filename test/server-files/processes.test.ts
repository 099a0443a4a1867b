/** The live processes of a job over HTTP: all that a cancel would stop, each with its command, without secrets. */
import { beforeAll, expect, it } from 'vitest';
import type { JobProcesses } from '../../src/wire/processes.ts';
import { eventually, FilesBench } from './files-bench.ts';

const bench = new FilesBench();
const processesOf = async (id: string) => (await bench.ask('GET', `/api/jobs/${id}/processes`)).json as JobProcesses;

beforeAll(async () => {
  // A child, a grandchild, and one that left the session and its parents.
  bench.queue('tree', '(setsid sleep 301 &); (sleep 302; true) & exec -a "$KEY" sleep 303', {
    grace: '2s',
    secrets: { KEY: 'hush-hush-9' },
  });
  bench.queue('brief', 'true');
  await bench.start();
});

it('are listed while a script runs, as a tree with the grace time of a stop', async () => {
  await bench.add('tree', 'grown');
  const seen = await eventually(
    () => processesOf('grown'),
    ({ processes }) => [301, 302, 303].every((each) => processes.some(({ command }) => command.endsWith(`${each}`))),
    30_000,
  );
  expect(seen).toMatchObject({ isHere: true, attempt: 1, graceMs: 2_000, count: seen.processes.length });
  const sleeper = seen.processes.find(({ command }) => command === 'sleep 302');
  expect(seen.processes.map(({ pid }) => pid)).toContain(sleeper?.parent);
  expect(sleeper?.rssBytes).toBeGreaterThan(0);
  expect(JSON.stringify(seen)).toContain('*********** 303');
  expect(JSON.stringify(seen)).not.toContain('hush');

  await bench.ask('POST', '/api/jobs/grown/cancel', { json: {} });
  await eventually(
    () => bench.stateOf('grown'),
    (state) => state === 'cancelled',
    30_000,
  );
  expect(await processesOf('grown')).toEqual({
    isHere: false,
    attempt: null,
    graceMs: null,
    count: 0,
    processes: [],
  });
});

it('are empty for a job that does not run, and 404 for an unknown job', async () => {
  await bench.add('brief', 'gone');
  await eventually(
    () => bench.stateOf('gone'),
    (state) => state === 'done',
    30_000,
  );
  expect(await processesOf('gone')).toMatchObject({ isHere: false, processes: [] });
  expect((await bench.ask('GET', '/api/jobs/nobody/processes')).status).toBe(404);
});
