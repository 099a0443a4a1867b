/** Every RQ_ variable by value, and its LONGHAUL_ variable. */
import { expect, test } from 'vitest';
import type { RunningJob } from '../../core/job/job.ts';
import { claimed, created } from '../../core/lifecycle/lifecycle.ts';
import { DEFAULT_SETTINGS } from '../../core/settings/settings.ts';
import { nodeSettings } from '../node-settings.ts';
import { scriptEnvironment } from './script-environment.ts';

function aRunningJob(data: unknown): RunningJob {
  const input = { id: '20091109.0558', queue: 'test', data: JSON.stringify(data), name: 'n' };
  const { job } = created(input, { now: 1, seq: 1, settings: DEFAULT_SETTINGS });
  return claimed({ ...job, resends: 3 }, { now: 2, token: 77, worker: 'w', leaseMs: 1 }).job as RunningJob;
}

const node = nodeSettings(
  JSON.stringify({ url: 'http://butter:1234', aliases: ['http://toast:1'], port: 1234, env: 'stage' }),
);
const paths = { work: '/h/jobs/a/attempts/1/work', script: 's.sh', realScript: '/opt/v2/s.sh' };
const environmentOf = (data: unknown, settings = DEFAULT_SETTINGS) =>
  scriptEnvironment({
    job: aRunningJob(data),
    settings,
    node,
    paths,
    version: '0.1.0',
    inherited: { PATH: '/bin', SECRET: 'x', LANG: 'C' },
  });

test('sets every variable of RQ to its documented value, including those that RQ itself omits', () => {
  const environment = environmentOf({ param1: 'a', param2: 2, param4: { deep: true } });
  expect(Object.fromEntries(Object.entries(environment).filter(([name]) => name.startsWith('RQ_')))).toEqual({
    RQ_VER: '0.1.0',
    RQ_SCRIPT: 's.sh',
    RQ_REALSCRIPT: '/opt/v2/s.sh',
    RQ_HOST: 'http://butter:1234/',
    RQ_HOSTNAMES: 'http://butter:1234/ http://toast:1/',
    RQ_PORT: '1234',
    RQ_ENV: 'stage',
    RQ_DEST: 'http://butter:1234/q/test',
    RQ_DEST_QUEUE: 'test',
    RQ_MSG_ID: '20091109.0558',
    RQ_FULL_MSG_ID: 'http://butter:1234/q/test/20091109.0558',
    RQ_ORIG_MSG_ID: 'http://butter:1234/q/test/20091109.0558',
    RQ_MSG_DIR: '/h/jobs/a/attempts/1/work',
    RQ_PIPE: '3',
    RQ_WRITE: '3',
    RQ_READ: '4',
    RQ_COUNT: '3',
    RQ_PARAM1: 'a',
    RQ_PARAM2: '2',
    RQ_PARAM3: '',
    RQ_PARAM4: '{"deep":true}',
  });
});

test('sets each variable with the prefix LONGHAUL_ too, and variables of its own', () => {
  const environment = environmentOf({ param1: 'a' });
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith('RQ_')) expect(environment[name.replace('RQ_', 'LONGHAUL_')]).toBe(value);
  }
  expect(environment).toMatchObject({
    LONGHAUL_JOB_ID: '20091109.0558',
    LONGHAUL_QUEUE: 'test',
    LONGHAUL_ATTEMPT: '1',
    LONGHAUL_ATTEMPT_TOKEN: '77',
  });
});

test('sets RQ_FORCE_REMOTE only for a message that has it, and keeps origin and destination', () => {
  expect(environmentOf({})).not.toHaveProperty('RQ_FORCE_REMOTE');
  const message = { force_remote: '1', dest: 'http://other:3333/q/x', orig_msg_id: 'http://first/q/y/1' };
  expect(environmentOf(message)).toMatchObject({
    RQ_FORCE_REMOTE: '1',
    RQ_DEST: 'http://other:3333/q/x',
    RQ_ORIG_MSG_ID: 'http://first/q/y/1',
  });
  expect(environmentOf({ dest: '/q/z' })['RQ_DEST']).toBe('http://butter:1234/q/z');
});

test("inherits only the allow-list, and the queue's env cannot replace reserved variables", () => {
  const environment = environmentOf({}, { ...DEFAULT_SETTINGS, env: { EXTRA: '1', RQ_COUNT: '99' } });
  expect(environment).toMatchObject({ PATH: '/bin', LANG: 'C', EXTRA: '1', RQ_COUNT: '3' });
  expect(environment).not.toHaveProperty('SECRET');
});

test('leaves a value that is too long or contains NUL to data.json', () => {
  expect(environmentOf({ param1: 'x'.repeat(70_000), param2: 'a\u0000b' })).toMatchObject({
    RQ_PARAM1: '',
    RQ_PARAM2: '',
  });
});
