/** The queue rq_router: rules from a file, reloaded while the node runs; one copy per destination, drawn once. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import { candidatesOf, pick, ruleFor } from '../../src/node/router/route-job.ts';
import { parseRouterRules } from '../../src/node/router/router-rules.ts';
import { eventually } from '../processes/runner-workbench.ts';
import type { TrialNode } from './relay-bench.ts';
import { aFile, ended, filesOf, hasFailed, hashesOf, jobsIn, relay, startNode, until } from './relay-bench.ts';

describe('rules', () => {
  const rules = parseRouterRules(
    JSON.stringify({
      rules: [
        { name: 'eu', match: { source: '^web', destination: '/q/films$', tags: ['eu', 'hd'] }, end: 'done' },
        { name: 'films', match: { destination: 'films' }, relay: ['a', ['b:4444', 'https://c/root/']], delay: '10s' },
        { match: { source: 'test' }, balance: ['http://d:1/q/other', '/q/here'] },
      ],
      default: { end: 'failed' },
    }),
  );
  const job = (source: string, destination: string, ...tags: string[]) => ({ source, destination, tags });

  it('are tried in order, and the default applies to the rest', () => {
    expect(ruleFor(rules, job('web1', 'http://x/q/films', 'hd', 'eu', 'x')).name).toBe('eu');
    expect(ruleFor(rules, job('web1', 'http://x/q/films', 'eu')).name).toBe('films');
    expect(ruleFor(rules, job('test', 'mail')).name).toBe('rule 3');
    expect(ruleFor(rules, job('', '')).name).toBe('default');
  });

  it('accept hosts, nodes, remote queues and local queues', () => {
    const routes = [['a'], ['b:4444', 'https://c/root/'], ['http://d:1/q/other', '/q/here']];
    expect(candidatesOf(routes, job('', 'http://x:3333/q/films'))).toEqual([
      ['http://a:3333/q/films'],
      ['http://b:4444/q/films', 'https://c/root/q/films'],
      ['http://d:1/q/other', '/q/here'],
    ]);
    expect(candidatesOf([['a']], job('', ''))).toBeNull();
    expect(candidatesOf([['/q/here']], job('', ''))).toEqual([['/q/here']]);
  });

  it('choose among destinations that are up, and among all when none is', () => {
    const up =
      (...hosts: string[]) =>
      (each: string) =>
        hosts.includes(each);
    expect(pick(['a', 'b', 'c'], up('b', 'c'), 0.99)).toBe('c');
    expect(pick(['a', 'b', 'c'], up('b', 'c'), 0)).toBe('b');
    expect(pick(['a', 'b', 'c'], up(), 0)).toBe('a');
  });

  it('report all problems at once, each with its path', () => {
    const wrong = {
      rules: [
        { name: 'two', relay: ['a'], end: 'done' },
        { match: { source: '(' }, balance: [] },
        { relay: ['ftp://x'], delay: 'soon' },
        { mach: {}, end: 'ended' },
      ],
    };
    expect(() => parseRouterRules(JSON.stringify(wrong))).toThrow(
      /rules\[0\]: must have one of relay, balance and end, not relay and end.*rules\[1\]\.match\.source: is not a regular expression.*rules\[1\]\.balance: must have at least one route.*rules\[2\]\.relay\[0\]: must be a host.*rules\[2\]\.delay: must be a duration.*rules\[3\]\.mach: is not known; did you mean match\?.*rules\[3\]\.end: must be one of done, failed/,
    );
    expect(() => parseRouterRules('{')).toThrow('router.json: is not valid JSON');
  });
});

describe('the queue rq_router', () => {
  let a: TrialNode;
  let b: TrialNode;
  let c: TrialNode;
  let number = 0;

  beforeAll(async () => {
    [a, b, c] = [await startNode(), await startNode(), await startNode()];
    await a.knows('here');
    await b.knows('films');
    await c.knows('films', 'other');
    await a.settings.change('rq_router', { backoff: { kind: 'fixed', delay: 50, jitter: 0 } });
  });

  function rules(file: object | string): void {
    const path = join(a.home.root, 'router.json');
    writeFileSync(`${path}~`, typeof file === 'string' ? file : JSON.stringify(file));
    renameSync(`${path}~`, path);
  }

  async function route(data: object, tags: readonly string[] = []): Promise<string> {
    number += 1;
    const id = `job-${number}`;
    await a.store.jobs.add([{ id, queue: 'rq_router', data: JSON.stringify(data), tags }]);
    return id;
  }

  const arrivedAt = async (node: TrialNode, queue: string, mark: string): Promise<readonly Job[]> =>
    (await jobsIn(node, queue)).filter(({ data }) => data.includes(mark));

  it('keeps jobs with a reason without a file, and routes them with one', async () => {
    const id = await route({ dest: 'films', param1: 'first' });
    expect(await until(a, id, hasFailed)).toMatchObject({
      state: 'waiting',
      failure: { group: 'router: rules', message: 'router.json is missing in the data directory' },
    });
    rules({ rules: [{ name: 'to b', balance: [`127.0.0.1:${b.port}`] }] });
    expect(await until(a, id, ended)).toMatchObject({ state: 'done' });
    await until(a, `${id}~r0`, ended);
    expect(await arrivedAt(b, 'films', 'first')).toHaveLength(1);
  });

  it('relays to all routes of a rule with the files, and adds local copies too', async () => {
    rules({ rules: [{ name: 'all', relay: [b.base, `${c.base}q/other`, '/q/here'] }] });
    const files = [aFile('reel', 5_000)];
    await relay(a, { id: 'all', to: 'http://unknown.example/q/films', data: 'to all', files });
    await a.store.jobs.cancel([{ id: 'all' }]);
    const id = await route({ dest: 'films', src: 'web', param1: 'second' });
    await a.node.attachments.copy('all', id);
    const { result } = await until(a, id, ended);
    expect(JSON.parse(result ?? '')).toMatchObject({ rule: 'all', jobs: [`${id}~r0`, `${id}~r1`, `${id}~r2`] });
    for (const copy of [`${id}~r0`, `${id}~r1`]) await until(a, copy, ended);
    expect(await arrivedAt(b, 'films', 'second')).toHaveLength(1);
    expect(await arrivedAt(c, 'other', 'second')).toHaveLength(1);
    expect(await a.find(`${id}~r2`)).toMatchObject({ queue: 'here', state: 'waiting' });
    expect(hashesOf(files)).toMatchObject(await filesOf(a, `${id}~r2`));
  });

  it('applies a changed rule without a restart, and keeps the last valid rules when the file is invalid', async () => {
    rules({ rules: [{ match: { source: 'test' }, end: 'done' }] });
    expect(await until(a, await route({ dest: 'x', src: 'test' }), ended)).toMatchObject({ state: 'done' });
    rules({ rules: [{ name: 'closed', match: { source: 'test' }, end: 'failed' }] });
    expect(await until(a, await route({ dest: 'x', src: 'test' }), ended)).toMatchObject({
      state: 'failed',
      failure: { group: 'router: ended', message: 'rule closed ends it' },
    });
    rules('{ nonsense');
    expect(await until(a, await route({ dest: 'x', src: 'test' }), ended)).toMatchObject({ state: 'failed' });
    expect(a.troubles.splice(0).join()).toContain('router.json is invalid; the last valid rules stay in effect');
    rules({ rules: [] });
    expect(await until(a, await route({ dest: 'x' }), ended)).toMatchObject({
      failure: { message: 'no rule matches' },
    });
  });

  it('leaves out a destination that is down, until it is up again', async () => {
    const gone = await startNode();
    rules({ rules: [{ balance: [`${gone.base}q/films`, `${b.base}q/films`] }] });
    await gone.stop();
    const ids = await Promise.all([...Array(8).keys()].map((n) => route({ dest: 'films', param1: `down-${n}` })));
    for (const id of ids) {
      await until(a, id, ended);
      expect(await until(a, `${id}~r0`, ended)).toMatchObject({ forwardedTo: expect.stringContaining(b.base) });
    }
    // A node answers again at the other's address.
    const back = await startNode({}, { port: gone.port });
    await back.knows('films');
    const sendOne = async (): Promise<string> => {
      const id = await route({ dest: 'films', param1: 'back' });
      await until(a, id, ended);
      return (await until(a, `${id}~r0`, ended)).forwardedTo ?? '';
    };
    await eventually(sendOne, (address) => address.startsWith(back.base), 20_000);
  });

  it('draws once: a repeated attempt keeps its destinations', async () => {
    rules({ rules: [{ name: 'now', balance: [`${b.base}q/films`] }] });
    const checkpoint = JSON.stringify({ rule: 'before', to: ['/q/here'], delayMs: 0 });
    await a.store.jobs.add([{ id: 'late', queue: 'elsewhere', data: '{"dest":"films","param1":"late"}' }]);
    const [held] = (await a.store.jobs.claim({ worker: 'w', queues: ['elsewhere'], limit: 1, requestId: '2' })).jobs;
    const token = held?.lease?.token ?? 0;
    await a.store.jobs.heartbeat([{ id: 'late', token, checkpoint }]);
    await a.store.jobs.settle([{ id: 'late', token, kind: 'release', reason: 'its node ended' }]);
    await a.store.jobs.move([{ id: 'late', queue: 'rq_router' }]);
    await until(a, 'late', ended);
    expect(await a.find('late~r0')).toMatchObject({ queue: 'here' });
  });
});
