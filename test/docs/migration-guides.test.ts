/**
 * The steps of docs/migrating-from-*.md, run in one shell as a reader would run them: every block after `<!-- step: … -->`,
 * with the files after `<!-- file: … -->`. Only addresses and ports are replaced.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { waitFor } from '../../src/testing/index.ts';
import { ask, describeWithRedis, findPort, type RedisServer, startRedis } from '../support/redis-server.ts';
import { openShell as openShellSession } from '../support/shell-session.ts';

const root = join(import.meta.dirname, '../..');
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-guide-'));
  mkdirSync(join(folder, 'node_modules'));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(root, join(folder, 'node_modules/longhaul'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const command = `#!/bin/sh\nexec ${process.execPath} ${join(root, 'dist/cli/main.js')} "$@"\n`;
  writeFileSync(join(folder, 'bin/longhaul'), command, { mode: 0o755 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Guide {
  readonly name: string;
  /** Texts of the page and what stands for them here. */
  readonly replace: Readonly<Record<string, string>>;
}

/** Reads the guide, writes its files, and returns its steps in order. */
function stepsOf({ name, replace }: Guide): readonly string[] {
  const replaced = Object.entries(replace).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    readFileSync(join(root, `docs/migrating-from-${name}.md`), 'utf8'),
  );
  for (const [, file = '', text = ''] of replaced.matchAll(/<!-- file: (\S+) -->\n```js\n([\s\S]*?)```/g))
    writeFileSync(join(folder, file), text);
  return [...replaced.matchAll(/<!-- step: (\S+) -->\n```sh\n([\s\S]*?)```/g)].map(([, , text = '']) => text);
}

const openShell = () =>
  openShellSession({ cwd: folder, env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}` } });

describeWithRedis('The migration guide', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterEach(() => ask(server.port, 'FLUSHALL'));
  afterAll(() => server.stop());
  const own = () => ({
    'redis://localhost:6379': server.url,
    "host: 'localhost', port: 6379": `host: '127.0.0.1', port: ${server.port}`,
  });

  test('of Worqr moves old tasks and new ones', async () => {
    await ask(server.port, 'LPUSH worqr:queues:mail first');
    const [look = '', bridge = '', worker = '', producer = '', stop = '', ...more] = stepsOf({
      name: 'worqr',
      replace: own(),
    });
    expect(more).toEqual([]);
    const shell = await openShell();
    await shell.run(look);
    expect(shell.output).toContain('would import 1 waiting, 0 done, 0 failed, 0 schedules; 0 existed already');
    await shell.run(bridge);
    await shell.run(worker);
    await waitFor('the first', async () => shell.output.includes('sent first') || null, { deadlineMs: 60_000 });
    await ask(server.port, 'LPUSH worqr:queues:mail "of an old producer"');
    await shell.run(producer);
    await waitFor(
      'both',
      async () =>
        (shell.output.includes('sent of an old producer') && shell.output.includes('sent a new letter')) || null,
      { deadlineMs: 60_000 },
    );
    await shell.run(stop);
    expect(shell.output).toMatch(/moved 2 jobs \(mail 2\)/);
    await shell.close();
  });

  test('of Blueque moves old tasks and new ones, and imports what has ended', async () => {
    const task = (id: string, fields: string) =>
      ask(server.port, `HSET blueque_task_${id} queue films created 1700000000 updated 1700000000 ${fields}`);
    await ask(server.port, 'ZADD blueque_queues 1 films');
    await task('b-1', 'status pending parameters first');
    await task('b-2', 'status complete parameters old result fine');
    await ask(server.port, 'LPUSH blueque_pending_tasks_films b-1');
    const [look = '', bridge = '', listener = '', producer = '', stop = '', ...more] = stepsOf({
      name: 'blueque',
      replace: own(),
    });
    expect(more).toEqual([]);
    const shell = await openShell();
    await shell.run(look);
    expect(shell.output).toContain('would import 1 waiting, 1 done, 0 failed, 0 schedules; 0 existed already');
    await shell.run(bridge);
    await shell.run(listener);
    await shell.run(producer);
    await waitFor(
      'both',
      async () => (shell.output.includes('rendered first') && shell.output.includes('rendered a new film')) || null,
      { deadlineMs: 60_000 },
    );
    await shell.run(stop);
    expect(shell.output).toMatch(/moved 1 jobs \(films 1\)/);
    expect(shell.output).toMatch(/imported 0 waiting, 1 done, 0 failed, 0 schedules; 0 existed already/);
    expect(shell.output.slice(shell.output.indexOf('imported 0 waiting'))).toContain('b-2');
    await shell.close();
  });

  test('of qless moves old jobs and new ones, and imports what has ended', async () => {
    for (const line of [
      'ZADD ql:queues 1 frames',
      'HSET ql:j:first jid first klass Job data {} priority 0 tags [] state waiting queue frames remaining 5 time 1700000000',
      'ZADD ql:q:frames-work 1 first',
      `HSET ql:j:old jid old klass Job data {} state complete history '[{"q":"frames","put":1700000000}]' time 1700000050`,
    ])
      await ask(server.port, line);
    const [look = '', bridge = '', worker = '', producer = '', stop = '', ...more] = stepsOf({
      name: 'qless',
      replace: own(),
    });
    expect(more).toEqual([]);
    const shell = await openShell();
    await shell.run(look);
    expect(shell.output).toContain('would import 1 waiting, 1 done, 0 failed, 0 schedules; 0 existed already');
    await shell.run(bridge);
    await shell.run(worker);
    await shell.run(producer);
    await waitFor(
      'both',
      async () => (shell.output.includes('rendered first') && shell.output.includes('rendered new-frame')) || null,
      { deadlineMs: 60_000 },
    );
    await shell.run(stop);
    expect(shell.output).toMatch(/moved 1 jobs \(frames 1\)/);
    expect(shell.output.slice(shell.output.indexOf('imported 0 waiting'))).toContain('old');
    await shell.close();
  });
});

describe('The migration guide', () => {
  test('of RQ ends with a node that runs the waiting messages', { timeout: 120_000 }, async () => {
    const rq = join(folder, 'rq');
    const id = (number: number) => `20240301.1230.00.00${number}.900${number}`;
    for (const directory of ['bin', 'code', 'config', 'queue/films/que', 'queue/films/err'])
      mkdirSync(join(rq, directory), { recursive: true });
    writeFileSync(join(rq, 'bin/rq-mgr'), '#!/bin/sh\necho stopped\n', { mode: 0o755 });
    writeFileSync(
      join(rq, 'code/films.sh'),
      '#!/bin/sh\necho "rendering $RQ_PARAM1"\necho "done $RQ_PARAM1 is done" >&3\n',
    );
    chmodSync(join(rq, 'code/films.sh'), 0o755);
    writeFileSync(
      join(rq, 'queue/films/config.json'),
      JSON.stringify({ name: 'films', script: './code/films.sh', num_workers: '1', exec_prefix: '' }),
    );
    for (const [state, number] of [
      ['que', 1],
      ['err', 2],
    ] as const) {
      mkdirSync(join(rq, `queue/films/${state}/${id(number)}`));
      writeFileSync(
        join(rq, `queue/films/${state}/${id(number)}/msg`),
        JSON.stringify({ msg_id: id(number), dest: 'films', param1: 'one', due: 1 }),
      );
    }
    const port = String(await findPort());
    const [look = '', stop = '', copy = '', serve = '', check = '', ...more] = stepsOf({
      name: 'rq',
      replace: { 3333: port },
    });
    expect(more).toEqual([]);
    const shell = await openShell();
    await shell.run(look);
    expect(shell.output).toContain(
      'would import 1 waiting, 0 done, 1 failed, 0 schedules, 1 queues; 0 existed already',
    );
    await shell.run(stop);
    await shell.run(copy);
    expect(shell.output).toContain(`"scriptDirs": ["${join(rq, 'code')}"]`);
    await shell.run(serve);
    await shell.run(
      `until curl -s localhost:${port}/q/films/${id(1)}.json | grep -q 'one is done'; do sleep 0.1; done`,
    );
    await shell.run(check);
    expect(shell.output).toContain('/q/films.txt\n');
    expect(shell.output.slice(shell.output.lastIndexOf('status: UP'))).toMatch(/done: 1\nerr: 1/);
    await shell.close();
  });
});
