/**
 * `longhaul import --follow`: a bridge that moves what old producers add, while it is killed again and again. A worker runs
 * what arrives, and its jobs are deleted at once, so that an entry that were moved twice would also run twice.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Longhaul } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { waitFor } from '../../src/testing/index.ts';
import type { GuardedProcess } from '../support/guarded-process.ts';
import { spawnGuarded } from '../support/guarded-process.ts';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { isFullSize, testSize } from '../support/test-size.ts';

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');

describeWithRedis('import --follow', () => {
  let server: RedisServer;
  let folder = '';
  let longhaul: Longhaul;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'longhaul-follow-'));
    longhaul = await connect(join(folder, 'home'));
    await ask(server.port, 'FLUSHALL');
  });
  let stopAll = async (): Promise<void> => undefined;
  afterEach(async () => {
    await stopAll();
    stopAll = async () => undefined;
    await longhaul.close();
    rmSync(folder, { recursive: true, force: true });
  });

  interface Bridge extends GuardedProcess {
    readonly output: { stdout: string; stderr: string };
  }
  async function bridge(source: string, ...more: readonly string[]): Promise<Bridge> {
    const args = [CLI, 'import', source, server.url, '--follow', '--home', join(folder, 'home'), '--json', ...more];
    const child = await spawnGuarded(process.execPath, args);
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
    return Object.assign(child, { output });
  }
  /** Stops a bridge as Ctrl-C does. */
  async function stop(child: Bridge) {
    child.signal('SIGTERM');
    const ended = await child.ended;
    expect({ ...ended, stderr: child.output.stderr }).toMatchObject({ code: 0 });
    return JSON.parse(child.output.stdout.trim().split('\n').at(-1) ?? '') as { jobs: number; rejected: number };
  }
  /** A worker that notes what it runs; its jobs are deleted as soon as they are done. */
  async function workOn(queue: string): Promise<readonly string[]> {
    const ran: string[] = [];
    const { jobs } = longhaul.store;
    const work = longhaul.queue<string>(queue).work(async ({ data }) => void ran.push(data), { concurrency: 10 });
    const sweep = async (): Promise<void> => {
      const done = await jobs.list({ queue, state: 'done', order: 'newest', limit: 500 });
      await jobs.delete(done.jobs.map(({ id }) => id));
    };
    let isStopped = false;
    const sweeping = (async () => {
      while (!isStopped) await sweep().then(() => sleep(20));
    })();
    stopAll = async () => {
      isStopped = true;
      await sweeping;
      await work.stop();
    };
    return ran;
  }

  /**
   * Adds entries with `add`, and kills bridges while it does. Returns what ran once everything has.
   *
   * The lock of a killed bridge ends by itself after three seconds. The small size waits for the first one only.
   */
  async function throughKills(system: string, key: string, add: (number: number) => Promise<void>) {
    const [count, kills] = [testSize({ small: 150, full: 6_000 }), testSize({ small: 2, full: 20 })];
    const source = `--from-${system}`;
    const ran = await workOn('films');
    const adding = (async () => {
      for (let number = 0; number < count; number += 1) await add(number);
    })();
    for (let kill = 0; kill < kills; kill += 1) {
      const victim = await bridge(source);
      await waitFor('a first move', async () => (ran.length > (count * kill) / (kills + 1) ? true : null), {
        deadlineMs: 60_000,
      });
      await sleep(Math.random() * 60);
      victim.signal('SIGKILL');
      await victim.ended;
      if (!isFullSize && kill > 0) await ask(server.port, `DEL longhaul:import:${key}:lock`);
    }
    const last = await bridge(source);
    await adding;
    await waitFor('all of them', async () => (new Set(ran).size >= count ? true : null), { deadlineMs: 60_000 });
    // A round delivers what is held before it takes more: an entry that were moved twice would run before this one.
    await add(count);
    await waitFor('the last one', async () => ran.includes(`task ${count}`) || null, { deadlineMs: 60_000 });
    await stop(last);
    return { ran, expected: Array.from({ length: count + 1 }, (_, number) => `task ${number}`) };
  }

  test('moves each task of Worqr exactly once, through kills', { timeout: 240_000, retry: 0 }, async () => {
    const add = async (number: number) => {
      await ask(server.port, `LPUSH worqr:queues:films "task ${number}"`);
    };
    const { ran, expected } = await throughKills('worqr', 'worqr:worqr', add);
    expect(ran.toSorted()).toEqual(expected.toSorted());
    expect(await ask(server.port, 'LLEN worqr:queues:films')).toBe('0');
  });

  test('moves each task of Blueque exactly once, through kills', { timeout: 240_000, retry: 0 }, async () => {
    const add = async (number: number) => {
      await ask(
        server.port,
        `HSET blueque_task_b-${number} status pending queue films parameters "task ${number}" created 1700000000 updated 1700000000`,
      );
      await ask(server.port, 'ZINCRBY blueque_queues 0 films');
      await ask(server.port, `LPUSH blueque_pending_tasks_films b-${number}`);
    };
    const { ran, expected } = await throughKills('blueque', 'blueque', add);
    expect(ran.toSorted()).toEqual(expected.toSorted());
    expect(await ask(server.port, 'HGET blueque_task_b-0 node')).toBe('longhaul');
  });

  test('moves each job of qless exactly once, through kills', { timeout: 240_000, retry: 0 }, async () => {
    const add = async (number: number) => {
      await ask(server.port, 'ZADD ql:queues 1700000000 films');
      await ask(
        server.port,
        `HSET ql:j:q-${number} jid q-${number} klass Job data "\\"task ${number}\\"" priority 0 tags [] state waiting queue films remaining 5 time 1700000000`,
      );
      await ask(server.port, `ZADD ql:q:films-work ${-number} q-${number}`);
    };
    const { ran, expected } = await throughKills('qless', 'qless', add);
    expect(ran.toSorted()).toEqual(expected.toSorted());
    expect(await ask(server.port, 'KEYS ql:j:*')).toBe('0');
  });

  test('keeps order, schedules and dependencies, releases locks of unique tasks, and keeps what it cannot move', async () => {
    for (const line of [
      'LPUSH worqr:queues:films one two three',
      'LPUSH "worqr:queues:bad name" four',
      `EVAL "return redis.call('LPUSH', 'worqr:queues:films', string.rep('x', 300000))" 0`,
      `SET worqr:uniqueTasks:${'f97c5d29941bfb1b2fdab0874906ab82'} x`,
      'ZADD ql:queues 1 work',
      `HSET ql:j:p jid p klass Job data {} priority 5 tags '["x"]' state waiting queue work remaining 3 time 1700000000`,
      'HSET ql:j:c jid c klass Job data {} priority 0 tags [] state depends queue work remaining 5 time 1700000001',
      'SADD ql:j:c-dependencies p',
      'SADD ql:j:p-dependents c',
      'ZADD ql:q:work-work 1 p',
      'ZADD ql:q:work-depends 1 c',
      'HSET ql:j:r jid r klass Job data {} priority 0 state running queue work worker w expires 4000000000',
      'HSET ql:j:rc jid rc klass Job data {} priority 0 state depends queue work',
      'SADD ql:j:rc-dependencies r',
      'SADD ql:j:r-dependents rc',
      'HSET ql:j:s jid s klass Job data {} priority 0 state scheduled queue work remaining 5',
      'ZADD ql:q:work-scheduled 4000000000 s',
      'ZADD ql:tracked 1 p',
      'HSET ql:config heartbeat 120',
      'ZADD ql:t:x 1 p',
      'HSET ql:r:every jid every klass Job data {} queue work interval 60 state recur',
      'ZADD ql:q:work-recur 1 every',
    ])
      await ask(server.port, line);
    const worqr = await bridge('--from-worqr');
    await waitFor('its tasks', async () => ((await longhaul.queue('films').count()).waiting === 3 ? true : null));
    expect(await stop(worqr)).toMatchObject({ jobs: 3, rejected: 2 });
    expect(worqr.output.stderr).toContain('not moved: its data has 300002 bytes, more than 262144');
    expect(worqr.output.stderr).toContain('not moved: queue: must begin with a letter, digit or _');
    expect((await longhaul.queue('films').peek(9)).map(({ data }) => data)).toEqual(['one', 'two', 'three']);
    expect(await ask(server.port, 'EXISTS worqr:uniqueTasks:f97c5d29941bfb1b2fdab0874906ab82')).toBe('0');
    expect(await ask(server.port, 'HGET longhaul:import:worqr:worqr 1')).toContain('four');

    const qless = await bridge('--from-qless');
    await waitFor('its jobs', async () => ((await longhaul.queue('work').count()).waiting === 3 ? true : null));
    expect(await stop(qless)).toMatchObject({ jobs: 3, schedules: 1, rejected: 0 });
    const { jobs, records } = longhaul.store;
    expect(await jobs.find(['p', 'c', 's', 'r', 'rc'])).toMatchObject([
      { state: 'waiting', priority: -5, tags: ['x'], dependents: 1, policy: { retries: 3 } },
      { state: 'waiting', parents: { of: 1, open: 1 } },
      { state: 'waiting', runAt: 4_000_000_000_000 },
      null,
      null,
    ]);
    expect((await records.list({ kind: 'schedule', limit: 9 })).map(({ key }) => key)).toEqual(['every']);
    expect((await records.get('qless', 'config'))?.value).toBe('{"heartbeat":120}');
    expect((await records.list({ kind: 'tracked', limit: 9 })).map(({ key }) => key)).toEqual(['p']);
    expect([
      await ask(server.port, 'EXISTS ql:j:p'),
      await ask(server.port, 'EXISTS ql:j:rc'),
      await ask(server.port, 'ZCARD ql:t:x'),
    ]).toEqual(['0', '1', '0']);
  });

  test('refuses a second bridge and a source that was imported before, and goes on after an outage', async () => {
    await ask(server.port, 'LPUSH worqr:queues:films one');
    const first = await bridge('--from-worqr');
    await waitFor('the task', async () => ((await longhaul.queue('films').count()).waiting === 1 ? true : null));
    const second = await bridge('--from-worqr');
    expect(await second.ended).toMatchObject({ code: 1 });
    expect(second.output.stderr).toContain('longhaul: another import follows this source:');
    await server.kill9();
    await waitFor('a notice', async () => (first.output.stderr.includes('trying again') ? true : null));
    await server.restart();
    await ask(server.port, 'LPUSH worqr:queues:films two');
    await waitFor('the next task', async () => ((await longhaul.queue('films').count()).waiting === 2 ? true : null), {
      deadlineMs: 30_000,
    });
    await stop(first);
    await ask(server.port, 'LPUSH worqr:queues:films three');
    const copy = await spawnGuarded(process.execPath, [
      CLI,
      'import',
      '--from-worqr',
      server.url,
      '--home',
      join(folder, 'home'),
    ]);
    copy.stdout.resume();
    expect(await copy.ended).toMatchObject({ code: 0 });
    const third = await bridge('--from-worqr');
    expect(await third.ended).toMatchObject({ code: 1 });
    expect(third.output.stderr).toContain('were imported here before, without --follow');
  });
});
