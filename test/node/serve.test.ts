/** `longhaul serve` from outside: first run, listening, refusals, signals. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cli, eventually } from '../processes/scripts-workbench.ts';
import { startSentinels } from '../support/redis-fleet.ts';
import { hasRedis, startRedis } from '../support/redis-server.ts';
import { aBench, aNewHome, get, getOverSocket, post, urlOf } from './serve-bench.ts';

const isRoot = process.getuid?.() === 0;

/** Addresses on which this process listens, from the kernel. */
function listensOn(pid: number): string[] {
  const files = readdirSync(`/proc/${pid}/fd`);
  const inodes = new Set(files.map((file) => /^socket:\[(\d+)\]/.exec(link(`/proc/${pid}/fd/${file}`))?.[1]));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((row) => row[3] === '0A' && inodes.has(row[9]))
      .map((row) => (row[1] ?? '').split(':')[0] ?? ''),
  );
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function openToOthers(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return ['.', ...entries].filter((name) => (lstatSync(join(folder, name)).mode & 0o077) !== 0);
}

test('S1 The first run creates a private data directory with a sample queue, and listens on the loopback only.', async () => {
  const bench = aNewHome();
  const before = process.umask(0);
  const node = await bench.serve().finally(() => process.umask(before));
  const url = await urlOf(node);
  expect(await get(url, '/healthz')).toMatchObject({ status: 200 });
  const { port } = new URL(url);
  expect(await get(`http://[::1]:${port}`, '/healthz')).toMatchObject({ status: 200 });
  // It is ready when its runner process is up, shortly after it listens.
  await expect.poll(() => getOverSocket(bench.home, '/readyz')).toEqual({ status: 200, text: 'ready\n' });
  expect(listensOn(node.pid).sort()).toEqual(['00000000000000000000000001000000', '0100007F']);
  const id = await bench.add('sample', { param1: '1' });
  await bench.until(id, 'done');
  expect(bench.log(id)).toContain('\u001b[');
  expect((await bench.find(id)).progress).toMatchObject({ percent: 100 });
  expect(openToOthers(bench.home)).toEqual([]);
  expect((await node.terminate()).code).toBe(0);
});

test('The three printed commands work when pasted into a shell in another directory.', async () => {
  const bench = aNewHome();
  writeQueue(bench.queues, 'sample', '#!/bin/sh\necho "this is the log"\n');
  const node = await bench.serve();
  await node.says('or open http');
  const at = node.lines.findIndex((line) => line.startsWith('try in another terminal'));
  const commands = node.lines.slice(at + 1, at + 4).map((line) => line.trim());
  expect(commands).toHaveLength(3);
  const paste = (command: string): string =>
    execFileSync('sh', ['-c', command], {
      cwd: '/',
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
      timeout: 60_000,
    });
  const [id = ''] = paste(commands[0] ?? '')
    .trim()
    .split(/\s/);
  expect(id).toMatch(/^sample-/);
  expect(paste(commands[1] ?? '')).toContain('this is the log');
  expect(paste(commands[2] ?? '')).toContain(id);
  await node.terminate();
});

function writeQueue(queues: string, name: string, text: string): void {
  mkdirSync(queues, { recursive: true, mode: 0o700 });
  writeFileSync(join(queues, name), text, { mode: 0o700 });
}

test('S2 Without a token it refuses to listen beyond the loopback: exit 2 with the option and the cure.', () => {
  const bench = aNewHome();
  const refused = bench.run('serve', '--port', '0', '--listen', '0.0.0.0');
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.output).toMatch(/--listen 0\.0\.0\.0 .*no token.*longhaul token create/);
});

test('With a token it listens beyond the loopback.', async () => {
  const bench = aNewHome();
  const { output } = bench.run('serve', '--port', '0', '--listen', '0.0.0.0');
  const [, command = ''] = /longhaul (token create .*?), or omit/.exec(output) ?? [];
  expect(bench.run(...command.replace('NAME', 'mine').split(' '))).toMatchObject({ code: 0 });
  const node = await bench.serve(['--listen', '0.0.0.0']);
  expect(await get(await urlOf(node), '/healthz')).toMatchObject({ status: 200 });
  expect(listensOn(node.pid)).toEqual(['00000000']);
  await node.terminate();
});

test('LONGHAUL_LISTEN and node.json are named as the source of a refused address.', () => {
  const bench = aBench();
  const args = [cli, 'serve', '--home', bench.home, '--port', '0'];
  const fromEnv = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, LONGHAUL_LISTEN: '0.0.0.0' },
  });
  expect(fromEnv).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('LONGHAUL_LISTEN 0.0.0.0 would accept') as string,
  });
  writeFileSync(join(bench.home, 'node.json'), '{"listen":["::"]}', { mode: 0o600 });
  const fromFile = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(fromFile).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('"listen" in node.json :: would accept') as string,
  });
});

test.runIf(isRoot)('Another user can access neither the socket nor the store.', async () => {
  const bench = aNewHome();
  const node = await bench.serve();
  const readAsOther = (path: string) => spawnSync('cat', [join(bench.home, path)], { uid: 12_345, encoding: 'utf8' });
  for (const path of ['store.db', 'node.sock', 'queues/sample'])
    expect(readAsOther(path).stderr).toContain('Permission denied');
  // The directory may have to be searchable for scripts of other users; its files stay closed.
  chmodSync(bench.home, 0o711);
  for (const path of ['store.db', 'node.sock'])
    expect(readAsOther(path).stderr).toMatch(/Permission denied|No such device/);
  const reach =
    'const s = require("net").connect(process.argv[1]); s.on("connect", () => process.exit(0)); s.on("error", (e) => { console.log(e.code); process.exit(1); })';
  const socket = spawnSync(process.execPath, ['-e', reach, join(bench.home, 'node.sock')], {
    uid: 12_345,
    cwd: '/',
    encoding: 'utf8',
  });
  expect(socket).toMatchObject({ status: 1, stdout: 'EACCES\n' });
  await node.terminate();
});

test.runIf(hasRedis)('Weak settings of a Redis are reported, and refused with --strict.', async () => {
  const redis = await startRedis({ appendfsync: 'no' });
  onTestFinished(() => redis.stop());
  const bench = aNewHome();
  const strict = bench.run('serve', '--port', '0', '--store', redis.url, '--strict');
  expect(strict).toMatchObject({
    code: 2,
    output: expect.stringMatching(/--strict refuses this store: .*appendfsync is no/) as string,
  });
  const node = await bench.serve(['--store', redis.url]);
  await node.says(/warning: appendfsync is no/);
  const url = await urlOf(node);
  await expect.poll(() => get(url, '/readyz')).toMatchObject({ status: 200 });
  await node.terminate();
});

test.runIf(hasRedis)('It finds its Redis through Sentinels, and runs a job there.', async () => {
  const fleet = await startSentinels({ replicas: 0 });
  onTestFinished(() => fleet.stop());
  const bench = aBench();
  bench.queue('hello', 'echo hello');
  const node = await bench.serve(['--store', fleet.address]);
  await node.says(/store +redis\+sentinel:/);
  const url = await urlOf(node);
  expect((await post(url, '/api/jobs', { id: 'one', queue: 'hello', data: {} })).status).toBe(201);
  await eventually(
    () => get(url, '/api/jobs/one'),
    ({ text }) => text.includes('"state":"done"'),
  );
  expect(bench.log('one')).toBe('hello\n');
  await node.terminate();
});

test.each([
  [['--port', '70000'], /--port must be a port from 0 to 65535, not "70000"/],
  [['--listen', 'example.org'], /--listen must be an IP address such as/],
  [['--log-format', 'yson'], /--log-format must be one of pretty, json, not "yson"; did you mean json\?/],
  [['--listne', '::1'], /no option --listne; did you mean --listen\?/],
  [['extra'], /too many arguments/],
  [
    ['--store', 'http://me:secret@h:3333'],
    /--store http:\/\/…@h:3333: a node cannot use another node as its store; .*redis:.*longhaul add/,
  ],
  [['--store', 'unix:/tmp/node.sock'], /--store unix:.* cannot use another node/],
])('Wrong arguments are refused with the correct ones: %j', (args, message) => {
  const { code, output } = aNewHome().run('serve', ...args);
  expect({ code, output }).toEqual({ code: 2, output: expect.stringMatching(message) as string });
});

test('A used port is refused, with the process that uses it.', async () => {
  const bench = aNewHome();
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const { port } = holder.address() as { port: number };
  const { code, output } = bench.run('serve', '--port', String(port));
  holder.close();
  expect(code).toBe(2);
  expect(output).toContain(`port ${port} of 127.0.0.1 is in use by process ${process.pid}`);
});

test('A second node on the same data directory is refused, with the pid of the first.', async () => {
  const bench = aNewHome();
  const node = await bench.serve();
  const { code, output } = bench.run('serve', '--port', '0');
  expect({ code, output }).toEqual({ code: 2, output: expect.stringContaining(`pid ${node.pid}`) as string });
  await node.terminate();
});

test.runIf(isRoot)(
  'A data directory that other users may write or rename, or that another user owns, is refused.',
  async () => {
    const open = aNewHome();
    mkdirSync(open.home, { mode: 0o777 });
    chmodSync(open.home, 0o777);
    expect(open.run('serve', '--port', '0')).toMatchObject({
      code: 2,
      output: expect.stringContaining('chmod 0700') as string,
    });
    const below = aNewHome();
    mkdirSync(below.home, { mode: 0o777 });
    chmodSync(below.home, 0o777);
    expect(below.run('serve', '--port', '0', '--home', join(below.home, 'mine'))).toMatchObject({
      code: 2,
      output: expect.stringContaining('any user may rename its entries') as string,
    });
    const foreign = aNewHome();
    mkdirSync(foreign.home, { mode: 0o700 });
    execFileSync('chown', ['12345', foreign.home]);
    expect(foreign.run('serve', '--port', '0')).toMatchObject({
      code: 2,
      output: expect.stringContaining('belongs to user 12345') as string,
    });
  },
);

test('SIGHUP reloads node.json and the queues and logs the changes; an invalid node.json changes nothing.', async () => {
  const bench = aNewHome();
  writeQueue(bench.queues, 'shows', '#!/bin/sh\necho "env $RQ_ENV"\n');
  const node = await bench.serve();
  const file = join(bench.home, 'node.json');
  writeFileSync(file, JSON.stringify({ env: 'production', port: 4444 }));
  writeFileSync(join(bench.queues, 'shows.json'), JSON.stringify({ concurrency: 2 }));
  writeQueue(bench.queues, 'another', '#!/bin/sh\n');
  process.kill(node.pid, 'SIGHUP');
  await node.says('env changed from not set to "production"');
  await node.says(/port changed from not set to 4444; takes effect at the next start/);
  await node.says('queue shows: concurrency changed');
  await node.says('queue another: added');
  const id = await bench.add('shows');
  await bench.until(id, 'done');
  expect(bench.log(id)).toBe('env production\n');
  writeFileSync(file, '{ "env": 7 }');
  process.kill(node.pid, 'SIGHUP');
  await node.says(/reload failed, settings unchanged: node\.json: env: must be a text, not 7/);
  rmSync(file);
  process.kill(node.pid, 'SIGHUP');
  await node.says('env changed from "production" to not set');
  await node.terminate();
});

test('SIGTERM stops it with 0 while its scripts keep running; a second SIGTERM ends it at once.', async () => {
  const bench = aNewHome();
  writeQueue(bench.queues, 'long', '#!/bin/sh\nwhile [ ! -e "$LONGHAUL_PARAM1" ]; do sleep 0.1; done\necho ended\n');
  const node = await bench.serve();
  const url = await urlOf(node);
  const gate = join(bench.home, 'gate');
  const id = await bench.add('long', { param1: gate });
  await bench.until(id, (job) => job.lease?.startedAt !== null && job.state === 'running');
  expect((await node.terminate()).code).toBe(0);
  expect((await bench.find(id)).state).toBe('running');
  const next = await bench.serve();
  await next.says('adopted 1 running job');
  writeFileSync(gate, '');
  await bench.until(id, 'done');
  expect(bench.log(id)).toBe('ended\n');
  // A request that never ends delays the stop.
  const half = connect(Number(new URL(await urlOf(next)).port), '127.0.0.1');
  half.on('error', () => undefined);
  await new Promise<void>((resolve) => half.write('GET /healthz HTTP/1.1\r\nHost: local', () => resolve()));
  const startedAt = performance.now();
  process.kill(next.pid, 'SIGTERM');
  await next.says('stopping:');
  const ended = await next.terminate();
  half.destroy();
  expect(url).not.toBe('');
  expect(ended.code === 1 || performance.now() - startedAt > 5_000).toBe(true);
});

test('Without a terminal its log is JSON, one object per line, and no name can add a line.', async () => {
  const bench = aNewHome();
  writeQueue(bench.queues, 'sample', '#!/bin/sh\n');
  writeQueue(bench.queues, 'evil\n\u001b[31mqueue', '#!/bin/sh\n');
  const { output } = runFor(bench.home);
  const lines = output.trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as { level: number; time: number; msg: string });
  expect(entries.filter(({ msg }) => msg.startsWith('longhaul serves'))).toMatchObject([
    { home: bench.home, url: expect.stringMatching(/^http:/), queues: { sample: 'ready' } },
  ]);
  expect(output).not.toMatch(/"plain"|try in another terminal/);
  expect(entries.some(({ msg }) => msg.includes('evil'))).toBe(true);
  expect(output).not.toMatch(/[\u001b\u0085\u009b]/);
});

/** Starts it, waits until it is ready, stops it, and returns its output. */
function runFor(home: string): { output: string } {
  const script = `node "$1" serve --home "$2" --port 0 > "$2.out" 2>&1 & pid=$!
    for each in $(seq 300); do grep -q 'longhaul serves' "$2.out" && break; sleep 0.1; done
    kill "$pid"; wait "$pid"; cat "$2.out"; rm -f "$2.out"`;
  const cli = join(import.meta.dirname, '../../dist/cli/main.js');
  return { output: execFileSync('sh', ['-c', script, 'sh', cli, home], { encoding: 'utf8' }) };
}
