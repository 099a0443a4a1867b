import { expect, test } from 'vitest';
import { schedulesFor } from './file-schedules.ts';
import { readQueueFile } from './queue-file.ts';

const read = (config: object) => readQueueFile('q.json', JSON.stringify(config));

test("reads RQ's own sample: numbers as strings, an empty prefix, unused settings with a notice", () => {
  const sample = {
    fsync: 'no-fsync',
    ordering: 'none',
    script: './code/relay_script.rb',
    num_workers: '1',
    exec_prefix: '',
    name: 'relay',
  };
  const { settings, notices, isRq } = read(sample);
  expect(isRq).toBe(true);
  expect(settings).toEqual({
    script: './code/relay_script.rb',
    concurrency: 1,
    execPrefix: [],
    env: {},
    handshake: 'required',
    stdin: 'null',
    nice: 19,
    umask: 0o022,
  });
  expect(notices.map((notice) => notice.split(' ')[0])).toEqual(['fsync', 'ordering']);
});

test.each([undefined, 'bash -lc', 'bash -lc '])(
  'turns the prefix %o into a login shell that gets the path as one argument',
  (prefix) => {
    const { settings } = read({ script: '/x', num_workers: 2, ...(prefix !== undefined && { exec_prefix: prefix }) });
    expect(settings.execPrefix).toEqual(['bash', '-lc', 'exec "$@"', '--']);
  },
);

test('splits another prefix into words, and rejects one that needs a shell', () => {
  expect(read({ script: '/x', exec_prefix: 'nice -n 5' }).settings.execPrefix).toEqual(['nice', '-n', '5']);
  expect(() => read({ script: '/x', exec_prefix: 'cd /; exec' })).toThrow('exec_prefix: must be plain words');
});

test("passes env_vars to the script, except RQ's own variables", () => {
  expect(read({ script: '/x', env_vars: { A: '1', RQ_COUNT: '9', LONGHAUL_TOKEN: '1' } }).settings.env).toEqual({
    A: '1',
  });
});

test("maps RQ's coalesce and blocking parameters to coalesce and keys", () => {
  const config = { script: '/x', num_workers: 1 };
  expect(read({ ...config, coalesce_params: [2, '1'], blocking_params: [1, 3] })).toMatchObject({
    settings: { coalesce: { by: ['param1', 'param2'], scheduled: true }, keys: { by: ['param1', 'param3'], limit: 1 } },
    notices: [],
  });
  const old = { coalesce: 'yes', coalesce_param1: '1', coalesce_param2: '0', coalesce_param4: 1 };
  expect(read({ ...config, ...old }).settings).toMatchObject({ coalesce: { by: ['param1', 'param4'] } });
  expect(read({ ...config, ...old, coalesce: 'no' }).settings.coalesce).toBeUndefined();
  expect(read({ ...config, coalesce: 'yes' }).notices).toEqual([expect.stringContaining('coalesce has no effect')]);
  expect(() => read({ ...config, coalesce_params: [5] })).toThrow('coalesce_params[0]');
  expect(read({ coalesce: 'site' })).toMatchObject({ isRq: false, settings: { coalesce: { by: ['site'] } } });
});

test.each([
  [{ num_workers: 'many', script: '/x' }, 'num_workers: must be a whole number'],
  [{ num_workers: 1, scirpt: '/x' }, 'did you mean script?'],
])('names the invalid setting of %o', (config, message) => {
  expect(() => read(config)).toThrow(message);
});

test('checks a native file like settings, without a prefix', () => {
  expect(read({ concurrency: 4, lease: '30s' })).toMatchObject({
    isRq: false,
    settings: { concurrency: 4, leaseMs: 30_000 },
  });
  expect(() => read({ concurency: 4 })).toThrow('did you mean concurrency?');
  expect(() => readQueueFile('q.json', '[1]')).toThrow('one JSON object');
  expect(() => readQueueFile('q.json', '{')).toThrow('is not valid JSON');
});

test("maps RQ's schedule to schedules of the queue, and reads those of a native file", () => {
  const { schedules, notices } = read({
    script: '/x',
    num_workers: 1,
    schedule: [{ cron: '*/10 * * * *', param1: 'a', param2: 'b' }, { cron: '@daily' }],
  });
  expect(notices).toEqual([]);
  expect(schedulesFor('mail', schedules)).toMatchObject({
    'mail.cron-1': { queue: 'mail', cron: '*/10 * * * *', data: { param1: 'a', param2: 'b' }, overlap: 'allow' },
    'mail.cron-2': { queue: 'mail', cron: '@daily', data: {} },
  });
  expect(() => read({ num_workers: 1, schedule: [{ param1: 'a' }] })).toThrow('schedule[0].cron: is missing');
  const own = read({ schedules: { nightly: { cron: '30 3 * * *', data: 7 } } });
  expect(schedulesFor('mail', own.schedules)).toEqual({
    'mail.nightly': { queue: 'mail', cron: '30 3 * * *', data: 7 },
  });
  const wrong = read({ schedules: { never: { cron: '0 0 30 2 *' } } });
  expect(() => schedulesFor('mail', wrong.schedules)).toThrow('schedules.never: cron: never fires');
});
