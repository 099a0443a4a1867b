/**
 * The environment of a script by value: every RQ_ variable, the LONGHAUL_ variables, files, stdin, nice level; and RQ's
 * own sample.
 */
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobView } from '../../src/wire/job-view.ts';
import { Bench } from './scripts-workbench.ts';

const bench = new Bench();
const home = realpathSync(bench.home);
const code = join(home, 'code');
const ended = ({ state }: JobView): boolean => ['done', 'failed'].includes(state);
const nasty = '; id $(id) `id`\n--help -rf \\ "\' ü\t';
const message = {
  param1: 'one',
  param2: nasty,
  param3: { deep: [1] },
  orig_msg_id: 'http://first/q/x/1',
  force_remote: 1,
};
const print =
  'env -0; printf "nice=%s\\0stdin=%s\\0umask=%s\\0cwd=%s\\0" "$(nice)" "$(cat)" "$(umask)" "$PWD"; echo "done printed" >&3';
const version = (
  JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string }
).version;

beforeAll(async () => {
  mkdirSync(code, { mode: 0o755 });
  writeFileSync(
    join(bench.home, 'node.json'),
    JSON.stringify({
      url: 'http://butter:3334',
      aliases: ['http://localhost:3334/', 'http://10.0.0.7:3334'],
      port: 3334,
      env: 'stage',
      scriptDirs: [code],
    }),
  );
  writeFileSync(join(code, 'v1.sh'), `#!/bin/bash\n${print}\n`, { mode: 0o755 });
  symlinkSync('v1.sh', join(code, 'current.sh'));
  bench.queue('native', print, { env: { COLOUR: 'blue', RQ_VER: 'forged' }, secrets: { API_KEY: 'hunter2-hunter2' } });
  aQueueOfRq('legacy', {
    script: './code/current.sh',
    num_workers: '2',
    env_vars: { COLOUR: 'green', RQ_VER: 'forged' },
    fsync: 'no-fsync',
    ordering: 'none',
  });
  aQueueOfRq('direct', { script: './code/current.sh', num_workers: 1, exec_prefix: '' });
  writeFileSync(join(code, 'sample.sh'), readFileSync(join(import.meta.dirname, '../fixtures/scripts/rq-sample.sh')), {
    mode: 0o755,
  });
  symlinkSync('sample.sh', join(code, 'sample-link.sh'));
  aQueueOfRq('test', { script: './code/sample-link.sh', num_workers: '8', exec_prefix: '' });
  aQueueOfRq('test_nop', { script: './code/nop.sh', num_workers: '1' });
  writeFileSync(join(code, 'nop.sh'), '#!/bin/bash\necho "done nothing" >&3\n', { mode: 0o755 });
  const served = await bench.serve([], { LONGHAUL_TOKEN: 'of the node', NODE_OPTIONS: '--no-warnings', TZ: 'UTC' });
  await served.says('queue legacy: fsync has no effect');
  await served.says('queue legacy: ordering has no effect');
});

function aQueueOfRq(name: string, config: object): void {
  mkdirSync(join(bench.queues, name));
  writeFileSync(join(bench.queues, name, 'config.json'), JSON.stringify({ name, ...config }));
}

async function environmentOf(queue: string): Promise<{ id: string; variables: Record<string, string> }> {
  const id = await bench.add(queue, message, { name: 'shown' });
  expect(await bench.until(id, ended, 30_000)).toMatchObject({ state: 'done' });
  const pairs = bench.log(id).split('\0').slice(0, -1);
  return { id, variables: Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2) as [string, string])) };
}

const only = (variables: Record<string, string>, prefix: string): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => name.startsWith(prefix)));

const rqVariables = (queue: string, id: string, scripts: { script: string; real: string }) => ({
  RQ_VER: version,
  RQ_SCRIPT: scripts.script,
  RQ_REALSCRIPT: scripts.real,
  RQ_HOST: 'http://butter:3334/',
  RQ_HOSTNAMES: 'http://butter:3334/ http://localhost:3334/ http://10.0.0.7:3334/',
  RQ_PORT: '3334',
  RQ_ENV: 'stage',
  RQ_DEST: `http://butter:3334/q/${queue}`,
  RQ_DEST_QUEUE: queue,
  RQ_MSG_ID: id,
  RQ_FULL_MSG_ID: `http://butter:3334/q/${queue}/${id}`,
  RQ_ORIG_MSG_ID: 'http://first/q/x/1',
  RQ_MSG_DIR: join(bench.folder(id), 'work'),
  RQ_PIPE: '3',
  RQ_WRITE: '3',
  RQ_READ: '4',
  RQ_COUNT: '0',
  RQ_PARAM1: 'one',
  RQ_PARAM2: nasty,
  RQ_PARAM3: '{"deep":[1]}',
  RQ_PARAM4: '',
  RQ_FORCE_REMOTE: '1',
});

describe('the environment of a native queue', () => {
  it("contains every RQ_ variable, the same as LONGHAUL_, Longhaul's own, the allow-list and nothing else", async () => {
    const { id, variables } = await environmentOf('native');
    const script = join(bench.queues, 'native');
    const expected = rqVariables('native', id, { script, real: realpathSync(script) });
    expect(only(variables, 'RQ_')).toEqual(expected);
    const work = expected.RQ_MSG_DIR;
    expect(only(variables, 'LONGHAUL_')).toEqual({
      ...Object.fromEntries(Object.entries(expected).map(([name, value]) => [name.replace('RQ_', 'LONGHAUL_'), value])),
      LONGHAUL_JOB_ID: id,
      LONGHAUL_QUEUE: 'native',
      LONGHAUL_NAME: 'shown',
      LONGHAUL_ATTEMPT: '1',
      LONGHAUL_ATTEMPT_TOKEN: expect.stringMatching(/^\d+$/),
      LONGHAUL_FAILURES: '0',
      LONGHAUL_DATA: join(work, 'data.json'),
      LONGHAUL_CHECKPOINT: join(work, 'checkpoint.json'),
      LONGHAUL_STEPS: join(work, 'steps.json'),
      LONGHAUL_ATTACH: join(work, 'attach'),
      LONGHAUL_OUT: join(work, 'out'),
      LONGHAUL_ATTEMPT_MARK: bench.folder(id),
    });
    const others = Object.keys(variables).filter((name) => !/^(RQ|LONGHAUL)_/.test(name));
    const allowed =
      /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_ALL|LC_CTYPE|TZ|TMPDIR|PWD|OLDPWD|SHLVL|_|COLOUR|API_KEY|nice|stdin|umask|cwd)$/;
    expect(others.filter((name) => !allowed.test(name))).toEqual([]);
    expect(variables).toMatchObject({ COLOUR: 'blue', TZ: 'UTC', nice: '0', umask: '0077', cwd: work });
    expect(JSON.parse(variables['stdin'] ?? '')).toEqual(message);
  });

  it('has its secrets, which appear neither in the store nor in the log', async () => {
    const { id, variables } = await environmentOf('native');
    expect(variables['API_KEY']).toBe('hunter2-hunter2');
    const { output } = bench.run('logs', id);
    expect(output).toContain(`API_KEY=${'*'.repeat('hunter2-hunter2'.length)}`);
    expect(output).not.toContain('hunter2');
    const record = await (await bench.longhaul()).store.records.get('queue', 'native');
    expect(record?.value).toContain('blue');
    expect(record?.value).not.toContain('hunter2');
  });

  it('records the file that ran with the attempt', async () => {
    const { id } = await environmentOf('legacy');
    expect(bench.record(id)).toMatchObject({
      script: './code/current.sh',
      realScript: join(code, 'v1.sh'),
      argv: [expect.stringMatching(/\/bash$/), '-lc', 'exec "$@"', '--', join(code, 'v1.sh')],
      end: {
        exit: 0,
        signal: null,
        oom: 'no',
        stopped: { left: 0, words: expect.stringMatching(/^0 known processes left/) },
      },
    });
  });
});

describe("the environment of a queue from RQ's config.json", () => {
  it.each(['legacy', 'direct'])(
    'holds every RQ_ variable by value, in a login shell or without one: %s',
    async (queue) => {
      const { id, variables } = await environmentOf(queue);
      const scripts = { script: './code/current.sh', real: join(code, 'v1.sh') };
      expect(only(variables, 'RQ_')).toEqual(rqVariables(queue, id, scripts));
      expect(variables).toMatchObject({ nice: '19', stdin: '', LONGHAUL_PORT: '3334' });
      expect(variables['COLOUR']).toBe(queue === 'legacy' ? 'green' : undefined);
    },
  );
});

describe("RQ's sample script", () => {
  const send = async (data: object) => bench.add('test', data);

  it('runs to its end and keeps its output', async () => {
    const id = await send({ param1: 'html' });
    expect(await bench.until(id, ended, 30_000)).toMatchObject({ state: 'done', result: { status: 'done sleeping' } });
    expect(bench.log(id)).toContain(`<HTML "UNSAFE" 'CHARS' TEST & OTHER FRIENDS>`);
    expect(bench.log(id)).toContain(`${bench.folder(id)}/work\n`);
  });

  it('shows its progress while it runs', async () => {
    const id = await send({ param1: 'slow3' });
    await bench.until(id, ({ progress }) => progress?.text === 'start sleeping for 3', 30_000);
    expect(await bench.until(id, ended, 30_000)).toMatchObject({ state: 'done' });
  });

  it('goes to err by design', async () => {
    expect(await bench.until(await send({ param2: 'err' }), ended, 30_000)).toMatchObject({
      state: 'failed',
      failure: { message: 'by design' },
    });
  });

  it('writes the id of its duplicate, or the reason why there is none', async () => {
    const [good, bad] = [join(bench.home, 'good'), join(bench.home, 'bad')];
    const ids = [await send({ param1: 'dup_direct', param2: good }), await send({ param1: 'dup_fail', param2: bad })];
    for (const id of ids) expect(await bench.until(id, ended, 30_000)).toMatchObject({ state: 'done' });
    const copy = readFileSync(good, 'utf8').trim().split('/').at(-1) ?? '';
    expect(await bench.until(copy, ended, 30_000)).toMatchObject({ queue: 'test_nop', state: 'done' });
    expect(readFileSync(bad, 'utf8')).toBe("fail couldn't connect to queue - nope_this_q_does_not_exist\n");
  });

  it('is resent: once after two seconds, and six times at once', async () => {
    const [once, often] = [await send({ param1: 'resend1' }), await send({ param1: 'resend2' })];
    const job = await bench.until(once, ended, 30_000);
    expect(job).toMatchObject({ state: 'done', attempt: 2, resends: 1 });
    expect((job.endedAt ?? 0) - job.createdAt).toBeGreaterThanOrEqual(2_000);
    expect(await bench.until(often, ended, 30_000)).toMatchObject({ state: 'done', attempt: 7, resends: 6 });
    expect(bench.log(often, 6)).toContain('count: 5');
  });

  it('is started by its real path', async () => {
    const job = await bench.until(await send({ param1: 'symlink' }), ended, 30_000);
    expect(job).toMatchObject({ state: 'done', result: { status: join(code, 'sample.sh') } });
  });
});
