/** Commands beside a running node, over its socket: commands as jobs, following logs, files, draining. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobView } from '../../src/library/index.ts';
import type { GuardedProcess } from '../support/guarded-process.ts';
import { openHttpFaultProxy } from '../support/http-fault-proxy.ts';
import { CliBench, eventually, type RunningCommand, type RunningNode } from './cli-bench.ts';

const bench = new CliBench();
let node: GuardedProcess | null = null;
let served: RunningNode;

const serve = async (): Promise<void> => {
  served = await bench.serve();
  node = served.child;
};

/** More than all buffers between client and node hold. */
const CUT_FILE = 24 * 1024 ** 2;
const gateAt = (name: string): string => join(bench.folder, name);
/** Bash code that waits until the file exists, with a time limit. */
const until = (gate: string): string => `until [ -e ${gateAt(gate)} ] || [ $SECONDS -gt 120 ]; do sleep 0.05; done`;
const open = (gate: string): void => writeFileSync(gateAt(gate), '');
const prints = (command: RunningCommand, text: string) =>
  eventually(
    () => command.output(),
    ({ stdout, stderr }) => (stdout + stderr).includes(text),
    30_000,
  );
const idsOf = async (queue: string): Promise<string[]> =>
  (await bench.json<{ jobs: JobView[] }>('ls', queue)).jobs.map(({ id }) => id);

beforeAll(() => {
  bench.queue(
    'films',
    `echo frame 1; echo "progress 50 half" >&3; ${until('films')}; echo frame 2; echo made > out/film.txt`,
  );
  bench.queue('broken', 'echo trouble; exit 3');
});

/** Starts the node before each test if necessary, so that a failed start fails one test only. */
beforeEach(async () => {
  if (node?.isAlive !== true) await serve();
});

describe('longhaul run', () => {
  it('prints the output of the command and exits with its status', async () => {
    const result = await bench.run('run', '--', 'bash', '-c', 'echo hi; exit 7');
    expect(result).toMatchObject({ code: 7, stdout: 'hi\n' });
    expect(result.stderr).toMatch(/^longhaul: job \S+ failed: exit status 7\n$/);
    expect(await bench.run('run', '--', 'true')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('passes what is piped to it, to every attempt, and nothing with --no-stdin', async () => {
    const input = 'x'.repeat(300_000);
    bench.file('input.txt', input);
    expect(await bench.shell('longhaul run --id piped -- wc -c < input.txt')).toMatchObject({
      code: 0,
      stdout: `${input.length}\n`,
    });
    expect((await bench.run('retry', 'piped')).stdout).toBe('piped: requeued\n');
    await bench.until('piped', ({ state, attempt }) => state === 'done' && attempt === 2);
    expect((await bench.run('logs', 'piped')).stdout).toBe(`${input.length}\n`);
    expect(await bench.json('attach', 'piped')).toMatchObject([{ name: 'stdin', size: input.length }]);
    expect((await bench.shell('echo a | longhaul run -- cat')).stdout).toBe('a\n');
    expect((await bench.shell('echo a | longhaul run -n -- cat')).stdout).toBe('');
    expect((await bench.shell('echo b | longhaul run --id piped -- cat')).stderr).toContain('runs another command');
  });

  it('passes the arguments unchanged, the current directory, and the chosen variables', async () => {
    const { ended } = await bench.start(
      [
        'run',
        '--env',
        'CHOSEN',
        '--env',
        'GIVEN=a b',
        '--',
        'bash',
        '-c',
        'pwd; echo "$1|$CHOSEN|$GIVEN|$HIDDEN"; umask',
        'x',
        "it's $HOME; *",
      ],
      { CHOSEN: 'yes', HIDDEN: 'no' },
    );
    expect(await ended).toMatchObject({
      code: 0,
      stdout: `${bench.folder}\nit's $HOME; *|yes|a b|\n${process.umask().toString(8).padStart(4, '0')}\n`,
    });
  });

  it('reports an unknown command like a shell', async () => {
    expect(await bench.run('run', '--', 'no-such-command')).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('no-such-command: command not found'),
    });
    expect((await bench.run('run', '--', 'bash', '-c', 'kill -9 $$')).code).toBe(137);
  });

  it('runs a job within the capacity of the node, and shows the missing resources of another', async () => {
    const unfit = `unfit-${randomUUID()}`;
    expect(await bench.run('run', '--needs', 'cpu=1', '--', 'echo', 'fits')).toMatchObject({
      code: 0,
      stdout: 'fits\n',
    });
    expect(await bench.run('run', '--detach', '--id', unfit, '--needs', 'gpu=1', '--', 'true')).toMatchObject({
      code: 0,
    });
    expect((await bench.run('show', unfit)).stdout).toContain(
      'needs gpu=1, and no registered worker has that capacity',
    );
    expect(await bench.run('cancel', unfit)).toMatchObject({ code: 0 });
  });

  it('survives a kill and restart of the node', async () => {
    const call = await bench.start([
      'run',
      '--id',
      'survivor',
      '--',
      'bash',
      '-c',
      `echo before; ${until('restart')}; echo after; exit 7`,
    ]);
    await prints(call, 'before\n');
    node?.signal('SIGKILL');
    await node?.ended;
    await serve();
    open('restart');
    expect(await call.ended).toMatchObject({ code: 7, stdout: 'before\nafter\n' });
    expect(await bench.until('survivor', ({ state }) => state === 'failed')).toMatchObject({ attempt: 1 });
  });

  it('detaches at Ctrl-C, and prints how to follow the job again', async () => {
    const call = await bench.start([
      'run',
      '--id',
      'left',
      '--',
      'bash',
      '-c',
      `echo begun; ${until('left')}; echo over`,
    ]);
    await prints(call, 'begun');
    call.child.signal('SIGINT');
    const result = await call.ended;
    expect(result.code).toBe(130);
    expect(result.stderr).toContain('To follow it again: longhaul logs -f left');
    expect(await bench.until('left', () => true)).toMatchObject({ state: 'running' });
    open('left');
    expect(await bench.run('logs', '-f', 'left')).toMatchObject({ code: 0, stdout: 'begun\nover\n' });
  });

  it('cancels the job at the second Ctrl-C', async () => {
    const call = await bench.start(['run', '--id', 'ended', '--', 'bash', '-c', 'echo begun; sleep 300']);
    await prints(call, 'begun');
    call.child.signal('SIGINT');
    await prints(call, 'press Ctrl-C again to cancel the job');
    call.child.signal('SIGINT');
    const result = await call.ended;
    expect(result).toMatchObject({ code: 130, stderr: expect.stringContaining('job ended was cancelled') });
    expect(await bench.until('ended', () => true)).toMatchObject({ state: 'cancelled' });
  });

  it('runs only in a queue for commands', async () => {
    await bench.run('queue', 'heavy', '--create', 'script=longhaul:commands', 'concurrency=1');
    expect(await bench.run('run', '--queue', 'heavy', '--', 'echo', 'heavy')).toMatchObject({
      code: 0,
      stdout: 'heavy\n',
    });
    const wrong = await bench.run('run', '--queue', 'films', '--', 'echo', 'no');
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('has a script of its own') });
  });

  it('is the only way to run a command: a job with plain or changed data fails', async () => {
    const proof = gateAt('proof');
    const command = (argv: string[]) => JSON.stringify({ argv, cwd: '/', env: {}, umask: 0 });
    await bench.run('add', 'run', command(['/usr/bin/touch', proof]), '--id', 'smuggled');
    expect(await bench.until('smuggled', ({ state }) => state === 'failed')).toMatchObject({
      failure: { group: 'command not allowed' },
    });
    await bench.run('pause', 'run');
    await bench.run('run', '--detach', '--id', 'changed', '--', 'true');
    await (await bench.longhaul()).change('changed', { data: command(['/usr/bin/touch', proof]) } as never);
    await bench.run('resume', 'run');
    expect(await bench.until('changed', ({ state }) => state !== 'waiting' && state !== 'running')).toMatchObject({
      state: 'failed',
      failure: { group: 'command not allowed', message: expect.stringContaining('was changed after') },
    });
    expect(existsSync(proof)).toBe(false);
  });

  it('removes the permission of the command when the job is deleted', async () => {
    const longhaul = await bench.longhaul();
    const { records } = longhaul.store;
    const { stdout } = await bench.run('run', '--detach', '--', 'true');
    const id = stdout.trim();
    await bench.until(id, ({ state }) => state === 'done');
    expect(await records.get('command', id)).not.toBeNull();
    await longhaul.delete(id);
    await eventually(
      () => records.get('command', id),
      (record) => record === null,
      30_000,
    );
  });
});

describe('a running job', () => {
  it('appears in ls, show and top, is paused, drained with its expected end, and followed to its end', async () => {
    await bench.run('add', 'films', '--id', 'film-8');
    await bench.until('film-8', ({ progress }) => progress?.percent === 50);
    expect((await bench.run('ls', 'films')).stdout).toMatch(/film-8 +running .* 50 % +half/);
    expect((await bench.run('show', 'film-8')).stdout).toMatch(/expected end/);
    expect((await bench.run('top', '--once')).stdout).toMatch(/film-8 +films +running .* 50 % .*frame 1/);
    expect((await bench.run('pause', 'film-8')).stdout).toBe('job film-8: pause requested\n');
    await bench.until('film-8', ({ lease }) => lease?.pauseAskedAt !== null);
    expect((await bench.run('resume', 'film-8')).stdout).toBe('job film-8: resume requested\n');

    const early = await bench.run('drain', '--timeout', '10ms');
    expect(early).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('1 job still running; the queues stay paused'),
    });
    expect(early.stdout).toMatch(/film-8 +films .*50 % +(in about|any moment)/);
    const drain = await bench.start(['drain']);
    const follow = await bench.start(['logs', '-f', 'film-8']);
    await prints(follow, 'frame 1');
    open('films');
    expect(await drain.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('drained: no job is running') });
    expect(await follow.ended).toMatchObject({ code: 0, stdout: 'frame 1\nframe 2\n' });
    expect((await bench.run('resume')).stdout).toContain('queue films: resumed');
  });

  it('is reported by track -f', async () => {
    const follow = await bench.start(['track', '-f', '--json']);
    await prints(follow, 'following tracked jobs');
    await bench.run('track', 'film-8');
    await bench.run('track', 'film-8', '--off');
    await prints(follow, '"untracked"');
    follow.child.signal('SIGINT');
    const { code, stdout } = await follow.ended;
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; id: string; state: string });
    expect([code, events.map(({ type, id, state }) => [type, id, state])]).toEqual([
      0,
      ['tracked', 'untracked'].map((type) => [type, 'film-8', 'done']),
    ]);
    expect((await bench.run('track', 'film-8', '-f')).code).toBe(2);
  });

  it('leaves files that can be downloaded, and a log that can be searched', async () => {
    mkdirSync(gateAt('got'), { recursive: true });
    expect(await bench.run('attach', 'film-8', '--get', 'film.txt', '-o', 'got/film.txt')).toMatchObject({ code: 0 });
    expect(readFileSync(gateAt('got/film.txt'), 'utf8')).toBe('made\n');
    expect((await bench.run('logs', 'film-8', '--search', 'frame 2')).stdout).toBe('2: frame 2\n');
    expect((await bench.run('logs', 'film-8', '--search', 'frame [12]', '--regex')).stdout).toBe(
      '1: frame 1\n2: frame 2\n',
    );
    expect(await bench.run('logs', 'film-8', '--search', 'nothing')).toMatchObject({ code: 1, stdout: '' });
    expect((await bench.run('logs', 'film-8', '--search', '(', '--regex')).code).toBe(2);
  });

  it('that failed is listed by failure group, and retried with it', async () => {
    await bench.run('add', 'broken', '--id', 'broken-1');
    await bench.until('broken-1', ({ state }) => state === 'failed');
    expect((await bench.run('queue', 'broken')).stdout).toMatch(/1 failed[\s\S]*exit 3: trouble/);
    expect((await bench.run('retry', '--failed', '--group', 'exit 4')).stdout).toBe('requeued 0 failed jobs\n');
    expect((await bench.run('retry', '--failed', '--queue', 'broken', '--group', 'exit 3: trouble')).stdout).toBe(
      'requeued 1 failed job\n',
    );
    await bench.until('broken-1', ({ state, attempt }) => state === 'failed' && attempt === 2);
    expect((await bench.run('logs', 'broken-1', '--attempt', '1')).stdout).toBe('trouble\n');
  });
});

it('prints a log as text with colours, and every byte with --raw', async () => {
  const odd = `printf '\\033[31mred\\033[0m\\033]0;title\\007\\033[2Jend\\n'`;
  const result = await bench.run('run', '--id', 'odd', '--', 'bash', '-c', odd);
  expect(result.stdout).toBe('\u001b[31mred\u001b[0mend\n');
  expect((await bench.run('logs', 'odd')).stdout).toBe('\u001b[31mred\u001b[0mend\n');
  expect((await bench.run('logs', 'odd', '--raw')).stdout).toBe(
    '\u001b[31mred\u001b[0m\u001b]0;title\u0007\u001b[2Jend\n',
  );
  expect((await bench.runIn({ NO_COLOR: '1' }, 'logs', 'odd')).stdout).toBe('redend\n');
});

it('uploads a large file over the socket, byte for byte', async () => {
  const big = Buffer.alloc(5 * 1024 * 1024, 'abcdefg');
  writeFileSync(gateAt('big.bin'), big);
  bench.queue('keep', 'cp attach/big.bin out/copy.bin');
  await eventually(
    () => idsOf('keep').catch(() => null),
    (ids) => ids !== null,
    30_000,
  );
  expect(await bench.run('add', 'keep', '--id', 'big', '--attach', 'big.bin')).toMatchObject({ code: 0 });
  await bench.until('big', ({ state }) => state === 'done');
  expect((await bench.run('attach', 'big', '--get', 'copy.bin')).code).toBe(0);
  expect(readFileSync(gateAt('copy.bin')).equals(big)).toBe(true);
});

describe('over TCP', () => {
  const over = (argv: string[], env: NodeJS.ProcessEnv = {}) =>
    bench.runIn({ LONGHAUL_STORE: served.address(), ...env }, ...argv);

  it('reading needs no token on this machine; a command, which is code, is refused and leaves no job', async () => {
    expect(await over(['ls', 'films'])).toMatchObject({ code: 0, stdout: expect.stringContaining('film-8') });
    expect(await over(['logs', 'film-8'])).toMatchObject({ code: 0, stdout: 'frame 1\nframe 2\n' });
    const refused = await over(['run', '--id', 'far', '--', 'touch', gateAt('far')]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^longhaul: .*admin/);
    expect(await (await bench.longhaul()).find('far')).toBeNull();
  });

  it('a token sets the role, from read to admin', async () => {
    const tokenFor = async (role: string): Promise<NodeJS.ProcessEnv> => ({
      LONGHAUL_TOKEN: (await bench.run('token', 'create', role, '--role', role)).stdout.trim(),
    });
    expect(await over(['cancel', 'film-8'], await tokenFor('read'))).toMatchObject({ code: 1, stdout: '' });
    expect(await over(['run', '--', 'echo', 'far'], await tokenFor('admin'))).toMatchObject({
      code: 0,
      stdout: 'far\n',
    });
    expect(await over(['ls'], { LONGHAUL_TOKEN: 'lh_0000000000000000_unknown' })).toMatchObject({ code: 1 });
  });

  it('an upload resumes after a lost connection or a killed command, unless the file has changed', async () => {
    const proxy = await openHttpFaultProxy(Number(new URL(served.address()).port));
    const env = { LONGHAUL_STORE: `http://127.0.0.1:${proxy.port}` };
    const id = (await bench.run('add', 'films', '--draft')).stdout.trim();
    let [sent, cutAt] = [0, CUT_FILE / 4];
    let onCut: () => void = () => undefined;
    proxy.onBody = (bytes) => {
      sent += bytes;
      if (sent < cutAt) return;
      cutAt = Number.POSITIVE_INFINITY;
      onCut();
      proxy.cutAll();
    };
    const bytesOf = async (act: () => Promise<unknown>): Promise<number> => {
      sent = 0;
      await act();
      return sent;
    };
    try {
      // The connection is lost once: the same command resumes.
      const first = randomBytes(CUT_FILE);
      writeFileSync(gateAt('cut.bin'), first);
      const cut = await bytesOf(async () =>
        expect(await over(['attach', id, 'cut.bin'], env)).toMatchObject({ code: 0 }),
      );
      expect(cut).toBeLessThan(CUT_FILE * 1.6);
      // The command is killed: the next command resumes, and a third one finds the upload complete.
      writeFileSync(gateAt('killed.bin'), first);
      const call = await bench.start(['attach', id, 'killed.bin'], env);
      sent = 0;
      cutAt = CUT_FILE / 2;
      onCut = () => {
        proxy.isDown = true;
        call.child.signal('SIGKILL');
      };
      await call.ended;
      proxy.isDown = false;
      const rest = await bytesOf(async () =>
        expect(await over(['attach', id, 'killed.bin'], env)).toMatchObject({ code: 0 }),
      );
      expect(rest).toBeLessThan(CUT_FILE);
      expect(await bytesOf(() => over(['attach', id, 'killed.bin'], env))).toBeLessThan(10_000);
      // A different file of the same name and size replaces it completely.
      const second = randomBytes(CUT_FILE);
      writeFileSync(gateAt('killed.bin'), second);
      expect(await over(['attach', id, 'killed.bin'], env)).toMatchObject({ code: 0 });
      for (const [name, bytes] of [
        ['cut.bin', first],
        ['killed.bin', second],
      ] as const) {
        expect((await over(['attach', id, '--get', name, '-o', `got-${name}`])).code).toBe(0);
        expect(readFileSync(gateAt(`got-${name}`)).equals(bytes)).toBe(true);
      }
    } finally {
      await proxy.close();
    }
  });
});

describe('serve --require-token', () => {
  const strict = new CliBench();
  it('requires a token over TCP, enforces the rate limit, and needs no token on the socket', async () => {
    strict.queue('films', 'true');
    strict.file('longhaul/node.json', JSON.stringify({ rates: { requestsPerSecond: 1 } }));
    const starting = strict.start(['serve', '--require-token'], { LONGHAUL_PORT: '0' });
    const { address } = await strict.serve(starting);
    await eventually(
      async () => address(),
      (url) => url !== '',
      30_000,
    );
    expect((await fetch(`${address()}/api/queues`)).status).toBe(401);
    const token = (await strict.run('token', 'create', 'reader', '--role', 'read')).stdout.trim();
    const headers = { authorization: `Bearer ${token}` };
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${address()}/api/queues`, { headers })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses).toContain(429);
    expect((await strict.run('ls', 'films')).code).toBe(0);
  });
});
