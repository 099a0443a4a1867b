/** Commands beside a running node, over its socket: commands as jobs, logs as they are written, files, waiting. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobView } from '../../src/library/index.ts';
import type { GuardedProcess } from '../support/guarded-process.ts';
import { openHttpFaultProxy } from '../support/http-fault-proxy.ts';
import { CliBench, eventually, type Serving, type Started } from './cli-bench.ts';

const bench = new CliBench();
let node: GuardedProcess | null = null;
let served: Serving;

const serve = async (): Promise<void> => {
  served = await bench.serve();
  node = served.child;
};

/** More than the buffers on the way hold. */
const CUT_FILE = 24 * 1024 ** 2;
const gateAt = (name: string): string => join(bench.folder, name);
/** Bash that goes on once a file is there, and in no case for ever. */
const until = (gate: string): string => `until [ -e ${gateAt(gate)} ] || [ $SECONDS -gt 120 ]; do sleep 0.05; done`;
const open = (gate: string): void => writeFileSync(gateAt(gate), '');
const says = (call: Started, words: string) =>
  eventually(
    () => call.said(),
    ({ stdout, stderr }) => (stdout + stderr).includes(words),
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

/** One that could not be started is one test's news, and not that of all that come after it. */
beforeEach(async () => {
  if (node?.isAlive !== true) await serve();
});

describe('longhaul run', () => {
  it('prints what the command prints and exits with its status', async () => {
    const said = await bench.run('run', '--', 'bash', '-c', 'echo hi; exit 7');
    expect(said).toMatchObject({ code: 7, stdout: 'hi\n' });
    expect(said.stderr).toMatch(/^longhaul: job \S+ failed: exit status 7\n$/);
    expect(await bench.run('run', '--', 'true')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('gives it the words as they are, the present folder, and the variables that were chosen', async () => {
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

  it('says like a shell when there is no such command', async () => {
    expect(await bench.run('run', '--', 'no-such-command')).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('no-such-command: command not found'),
    });
    expect((await bench.run('run', '--', 'bash', '-c', 'kill -9 $$')).code).toBe(137);
  });

  it('runs what needs no more than the node has, and says what is missing of the rest', async () => {
    const unfit = `unfit-${randomUUID()}`;
    expect(await bench.run('run', '--needs', 'cpu=1', '--', 'echo', 'fits')).toMatchObject({
      code: 0,
      stdout: 'fits\n',
    });
    expect(await bench.run('run', '--detach', '--id', unfit, '--needs', 'gpu=1', '--', 'true')).toMatchObject({
      code: 0,
    });
    expect((await bench.run('show', unfit)).stdout).toContain('needs gpu=1, and no registered worker has that capacity');
    expect(await bench.run('cancel', unfit)).toMatchObject({ code: 0 });
  });

  it('survives a node that is killed and started anew in between', async () => {
    const call = await bench.start([
      'run',
      '--id',
      'survivor',
      '--',
      'bash',
      '-c',
      `echo before; ${until('restart')}; echo after; exit 7`,
    ]);
    await says(call, 'before\n');
    node?.signal('SIGKILL');
    await node?.ended;
    await serve();
    open('restart');
    expect(await call.ended).toMatchObject({ code: 7, stdout: 'before\nafter\n' });
    expect(await bench.until('survivor', ({ state }) => state === 'failed')).toMatchObject({ attempt: 1 });
  });

  it('leaves the command running at Ctrl-C, and says how to come back', async () => {
    const call = await bench.start([
      'run',
      '--id',
      'left',
      '--',
      'bash',
      '-c',
      `echo begun; ${until('left')}; echo over`,
    ]);
    await says(call, 'begun');
    call.child.signal('SIGINT');
    const said = await call.ended;
    expect(said.code).toBe(130);
    expect(said.stderr).toContain('To come back: longhaul logs -f left');
    expect(await bench.until('left', () => true)).toMatchObject({ state: 'running' });
    open('left');
    expect(await bench.run('logs', '-f', 'left')).toMatchObject({ code: 0, stdout: 'begun\nover\n' });
  });

  it('cancels it at the second Ctrl-C', async () => {
    const call = await bench.start(['run', '--id', 'ended', '--', 'bash', '-c', 'echo begun; sleep 300']);
    await says(call, 'begun');
    call.child.signal('SIGINT');
    await says(call, 'Ctrl-C once more cancels it');
    call.child.signal('SIGINT');
    const said = await call.ended;
    expect(said).toMatchObject({ code: 130, stderr: expect.stringContaining('job ended was cancelled') });
    expect(await bench.until('ended', () => true)).toMatchObject({ state: 'cancelled' });
  });

  it('runs in a queue of commands of its own, and in no other', async () => {
    await bench.run('queue', 'heavy', '--create', 'script=longhaul:commands', 'concurrency=1');
    expect(await bench.run('run', '--queue', 'heavy', '--', 'echo', 'heavy')).toMatchObject({
      code: 0,
      stdout: 'heavy\n',
    });
    const wrong = await bench.run('run', '--queue', 'films', '--', 'echo', 'no');
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('has a script of its own') });
  });

  it('is the only way to give a command: data alone, or data that were changed since, run nothing', async () => {
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
      failure: { group: 'command not allowed', message: expect.stringContaining('changed since') },
    });
    expect(existsSync(proof)).toBe(false);
  });

  it('leaves no permission behind when its job is deleted', async () => {
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
  it('is seen in ls, show and top, paused, drained with the time it will take, and followed to its end', async () => {
    await bench.run('add', 'films', '--id', 'film-8');
    await bench.until('film-8', ({ progress }) => progress?.percent === 50);
    expect((await bench.run('ls', 'films')).stdout).toMatch(/film-8 +running .* 50 % +half/);
    expect((await bench.run('show', 'film-8')).stdout).toMatch(/expected end/);
    expect((await bench.run('top', '--once')).stdout).toMatch(/film-8 +films +running .* 50 % .*frame 1/);
    expect((await bench.run('pause', 'film-8')).stdout).toBe('job film-8: asked to stand still\n');
    await bench.until('film-8', ({ lease }) => lease?.pauseAskedAt !== null);
    expect((await bench.run('resume', 'film-8')).stdout).toBe('job film-8: asked to go on\n');

    const early = await bench.run('drain', '--timeout', '10ms');
    expect(early).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('1 job still runs; the queues stay paused'),
    });
    expect(early.stdout).toMatch(/film-8 +films .*50 % +(in about|any moment)/);
    const drain = await bench.start(['drain']);
    const follow = await bench.start(['logs', '-f', 'film-8']);
    await says(follow, 'frame 1');
    open('films');
    expect(await drain.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing runs any more') });
    expect(await follow.ended).toMatchObject({ code: 0, stdout: 'frame 1\nframe 2\n' });
    expect((await bench.run('resume')).stdout).toContain('queue films: goes on');
  });

  it('is heard of by whoever follows tracked jobs', async () => {
    const follow = await bench.start(['track', '-f', '--json']);
    await says(follow, 'following tracked jobs');
    await bench.run('track', 'film-8');
    await bench.run('track', 'film-8', '--off');
    await says(follow, '"untracked"');
    follow.child.signal('SIGINT');
    const { code, stdout } = await follow.ended;
    const told = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; id: string; state: string });
    expect([code, told.map(({ type, id, state }) => [type, id, state])]).toEqual([
      0,
      ['tracked', 'untracked'].map((type) => [type, 'film-8', 'done']),
    ]);
    expect((await bench.run('track', 'film-8', '-f')).code).toBe(2);
  });

  it('leaves files and a log that can be had and searched', async () => {
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

  it('that failed is run again with its group, and told apart in the list', async () => {
    await bench.run('add', 'broken', '--id', 'broken-1');
    await bench.until('broken-1', ({ state }) => state === 'failed');
    expect((await bench.run('queue', 'broken')).stdout).toMatch(/1 failed[\s\S]*exit 3/);
    expect((await bench.run('retry', '--failed', '--group', 'exit 4')).stdout).toBe('0 failed jobs wait again\n');
    expect((await bench.run('retry', '--failed', '--queue', 'broken', '--group', 'exit 3')).stdout).toBe(
      '1 failed job waits again\n',
    );
    await bench.until('broken-1', ({ state, attempt }) => state === 'failed' && attempt === 2);
    expect((await bench.run('logs', 'broken-1', '--attempt', '1')).stdout).toBe('trouble\n');
  });
});

it('A log reaches a terminal as text and colours; a file gets every byte when it asks', async () => {
  const odd = `printf '\\033[31mred\\033[0m\\033]0;title\\007\\033[2Jend\\n'`;
  const said = await bench.run('run', '--id', 'odd', '--', 'bash', '-c', odd);
  expect(said.stdout).toBe('\u001b[31mred\u001b[0mend\n');
  expect((await bench.run('logs', 'odd')).stdout).toBe('\u001b[31mred\u001b[0mend\n');
  expect((await bench.run('logs', 'odd', '--raw')).stdout).toBe(
    '\u001b[31mred\u001b[0m\u001b]0;title\u0007\u001b[2Jend\n',
  );
  const { ended } = await bench.start(['logs', 'odd'], { NO_COLOR: '1' });
  expect((await ended).stdout).toBe('redend\n');
});

it('A file of some size is sent over the socket, byte for byte', async () => {
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
  const over = async (words: string[], env: NodeJS.ProcessEnv = {}) => {
    const { ended } = await bench.start(words, { LONGHAUL_STORE: served.address(), ...env });
    return ended;
  };

  it('a look needs no token on this machine; a command, which is code, is refused and nothing is left of it', async () => {
    expect(await over(['ls', 'films'])).toMatchObject({ code: 0, stdout: expect.stringContaining('film-8') });
    expect(await over(['logs', 'film-8'])).toMatchObject({ code: 0, stdout: 'frame 1\nframe 2\n' });
    const refused = await over(['run', '--id', 'far', '--', 'touch', gateAt('far')]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^longhaul: .*admin/);
    expect(await (await bench.longhaul()).find('far')).toBeNull();
  });

  it('a token says who you are: less than an operator, or an admin', async () => {
    const tokenFor = async (role: string): Promise<NodeJS.ProcessEnv> => ({
      LONGHAUL_TOKEN: (await bench.run('token', 'create', role, '--role', role)).stdout.trim(),
    });
    expect(await over(['cancel', 'film-8'], await tokenFor('read'))).toMatchObject({ code: 2, stdout: '' });
    expect(await over(['run', '--', 'echo', 'far'], await tokenFor('admin'))).toMatchObject({
      code: 0,
      stdout: 'far\n',
    });
    expect(await over(['ls'], { LONGHAUL_TOKEN: 'lh_0000000000000000_nobody' })).toMatchObject({ code: 2 });
  });

  it('a file goes on where the connection was cut or the command was killed, unless it is another file by now', async () => {
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
      // Cut once: the same call goes on.
      const first = randomBytes(CUT_FILE);
      writeFileSync(gateAt('cut.bin'), first);
      const cut = await bytesOf(async () =>
        expect(await over(['attach', id, 'cut.bin'], env)).toMatchObject({ code: 0 }),
      );
      expect(cut).toBeLessThan(CUT_FILE * 1.6);
      // Killed: the next call goes on, and a third finds it whole.
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
      // Another one of the same name and size takes its place, whole.
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
  it('lets nobody in by TCP without one, holds callers to a rate, and leaves the socket as it is', async () => {
    strict.queue('films', 'true');
    strict.file('longhaul/node.json', JSON.stringify({ rates: { requestsPerSecond: 1 } }));
    const asked = strict.start(['serve', '--require-token'], { LONGHAUL_PORT: '0' });
    const { address } = await strict.serve(asked);
    await eventually(
      async () => address(),
      (said) => said !== '',
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
