/** RQ's script protocol, verb by verb and outcome by outcome, in five languages, through a node. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobView } from '../../src/wire/job-view.ts';
import { Bench } from './scripts-workbench.ts';

const bench = new Bench();
/** Each job names its case: one queue per language runs them all. */
const byCase = 'CASE=$RQ_PARAM1 exec "$FIXTURE"';
const languages = { bash: 'verbs.sh', python: 'verbs.py', perl: 'verbs.pl', ruby: 'verbs.rb', c: 'verbs.c' };

beforeAll(async () => {
  // A fixed address, whatever port it listens on.
  writeFileSync(join(bench.home, 'node.json'), JSON.stringify({ url: 'http://localhost:3333/' }));
  for (const [language, file] of Object.entries(languages)) {
    const FIXTURE = bench.fixture(file);
    bench.queue(language, byCase, { concurrency: 4, env: { FIXTURE } });
    bench.queue(`${language}-required`, byCase, { handshake: 'required', env: { FIXTURE } });
  }
  bench.queue('test_nop', 'echo "copied from $RQ_ORIG_MSG_ID with $RQ_PARAM1, count $RQ_COUNT, due"');
  bench.queue('makes', `echo 'result {"n": 7}' >&3; echo x > out/made.txt`);
  bench.queue('finds', 'cat "$LONGHAUL_PARENTS"; cmp -s parents.json "$LONGHAUL_PARENTS"');
  bench.queue('asleep', 'true', { state: 'paused' });
  bench.queue('fallen', 'true', { state: 'down' });
  bench.queue(
    'again',
    `if [ "$RQ_COUNT" -lt "$RQ_PARAM1" ]; then echo "resend $RQ_PARAM2-not yet" >&3; else echo "done after $RQ_COUNT" >&3; fi`,
    { concurrency: 4 },
  );
  bench.queue('limited', 'echo "throttle api" >&3; echo "retry 600 HTTP 429" >&3; exit 1', { retries: 1 });
  bench.queue(
    'carries',
    'ls; cat checkpoint.json 2>/dev/null; touch left; echo "checkpoint {\\"page\\":$LONGHAUL_ATTEMPT}" >&3; exit 1',
    { retries: 1, backoff: { kind: 'fixed', delay: '10ms' } },
  );
  bench.queue(
    'asks',
    'for dest in test_nop nowhere asleep fallen http://elsewhere.example:3333/q/x http://localhost:3333/q/test_nop/ ""; do\n' +
      'echo "dup 0-X-$dest" >&3; read -r answer <&4; echo "$dest: $answer"; done; echo "done asked" >&3',
  );
  bench.queue(
    'words',
    `report() { "$NODE" "$CLI" report "$@"; }
report run half way; report progress 40 pass 1; report tag blue; report tag green; report group odd
report checkpoint '{"page": 7}'; report result '{"answer": 42}'; echo made > out/kept.txt; echo named > named.txt; report attach named.txt
report dup 0-X-test_nop; report done said in words`,
    { env: { NODE: process.execPath, CLI: (await import('./scripts-workbench.ts')).cli } },
  );
  await bench.serve();
  // All at once: the tests below check how each of them ended.
  for (const language of Object.keys(languages)) {
    for (const name of [...Object.keys(outcomes), 'dup'])
      begun.set(`${language}/${name}`, await bench.add(language, { param1: name }));
    for (const name of ['silent', 'close', 'done'])
      begun.set(`${language}-required/${name}`, await bench.add(`${language}-required`, { param1: name }));
  }
});

const begun = new Map<string, string>();
const idOf = (queue: string, name: string): string => begun.get(`${queue}/${name}`) ?? '';
const ended = ({ state }: JobView): boolean => ['done', 'failed', 'cancelled'].includes(state);

type Expected = { readonly state: string } & Record<string, unknown>;
const outcomes: Record<string, Expected> = {
  done: { state: 'done', result: { status: 'all of it' }, failure: null },
  err: { state: 'failed', failure: expect.objectContaining({ message: 'by design', detail: 'exit status 0' }) },
  relayed: { state: 'done', label: 'relayed', forwardedTo: 'http://other:3333/q/x/1' },
  'exit-after-done': {
    state: 'failed',
    failure: expect.objectContaining({
      group: 'exit 3',
      message: expect.stringMatching(
        /^PROCESS EXITED IMPROPERLY - MOVING TO ERR - Completion was done but exit status was pid \d+ exit 3$/,
      ),
    }),
  },
  silent: { state: 'done', result: null },
  split: { state: 'done', result: { status: 'in two parts' } },
  'done-then-err': { state: 'done', result: { status: 'second' } },
  close: { state: 'done', result: { status: 'before' } },
  data: { state: 'done', result: { status: 'read' } },
  huge: { state: 'done', result: { status: 'huge' } },
  killed: { state: 'failed', failure: expect.objectContaining({ group: 'killed by SIGKILL' }) },
};

describe.each(Object.keys(languages))('a script in %s', (language) => {
  it.each(Object.entries(outcomes))('ends as its reports and its exit status say: %s', async (param1, expected) => {
    const id = idOf(language, param1);
    expect(await bench.until(id, ended, 60_000)).toMatchObject(expected);
    if (param1 === 'done') expect(bench.log(id)).toBe('printed\n');
    if (param1 === 'data') expect(bench.log(id)).toBe('{"param1":"data"}');
    if (param1 === 'huge') expect(bench.log(id).split('\n')).toHaveLength(20_001);
    if (param1 === 'err') expect(existsSync(`${bench.folder(id)}/log`)).toBe(true);
  });

  it('waits as long as its resend says', async () => {
    const id = await bench.add(language, { param1: 'resend' });
    const job = await bench.until(id, ({ resends }) => resends === 1);
    expect(job).toMatchObject({ state: 'waiting', label: 'scheduled', failures: 0 });
    expect(job.runAt - job.createdAt).toBeGreaterThanOrEqual(2_000);
    await (await bench.longhaul()).cancel(id);
  });

  it('gets the answer to its dup', async () => {
    const id = idOf(language, 'dup');
    await bench.until(id, 'done');
    const copy = /^got \[ok http:\/\/localhost:3333\/q\/test_nop\/(\S+)\]\n$/.exec(bench.log(id))?.[1] ?? '';
    await bench.until(copy, 'done');
    expect(bench.log(copy)).toBe(`copied from http://localhost:3333/q/${language}/${id} with dup, count 0, due\n`);
  });

  it('has failed without a completion where one is required', async () => {
    const [silent, closed, done] = ['silent', 'close', 'done'].map((name) => idOf(`${language}-required`, name));
    expect(await bench.until(silent ?? '', ended)).toMatchObject({
      state: 'failed',
      failure: { group: 'no completion' },
    });
    expect(await bench.until(closed ?? '', ended)).toMatchObject({ state: 'failed', failure: { message: 'before' } });
    expect(await bench.until(done ?? '', ended)).toMatchObject({ state: 'done' });
  });
});

it('resend twice, then done: three attempts, counted by RQ_COUNT', async () => {
  const id = await bench.add('again', { param1: '2', param2: '0' });
  expect(await bench.until(id, ended)).toMatchObject({
    state: 'done',
    attempt: 3,
    resends: 2,
    result: { status: 'after 2' },
  });
});

it('resend past its maximum is an err with that reason', async () => {
  const id = await bench.add('again', { param1: '9', param2: '0' }, { maxResends: 3 });
  expect(await bench.until(id, ended)).toMatchObject({ state: 'failed', attempt: 4, resends: 3 });
  expect((await bench.find(id)).failure?.message).toBe('hit the limit of resends');
});

it('dup answers ok for a queue of this node, and fail for one that is unknown, paused or down', async () => {
  const id = await bench.add('asks');
  await bench.until(id, 'done');
  expect(bench.log(id).trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^test_nop: ok http:\/\/localhost:3333\/q\/test_nop\/\S+$/),
    "nowhere: fail couldn't connect to queue - nowhere",
    'asleep: fail dup failed - queue asleep is paused',
    'fallen: fail dup failed - queue fallen is down',
    expect.stringMatching(/^http:\/\/elsewhere\.example:3333\/q\/x: ok http:\/\/localhost:3333\/q\/relay\/\S+$/),
    expect.stringMatching(/^http:\/\/localhost:3333\/q\/test_nop\/: ok http:\/\/localhost:3333\/q\/relay\/\S+$/),
    expect.stringMatching(/^: fail /),
  ]);
});

it('reports everything through longhaul report', async () => {
  const id = await bench.add('words');
  const job = await bench.until(id, ended);
  expect(job).toMatchObject({
    state: 'done',
    result: { answer: 42 },
    tags: ['blue', 'green'],
    progress: { percent: 40, text: 'said in words' },
  });
  expect(bench.log(id)).toMatch(/^ok http:\/\/localhost:3333\/q\/test_nop\/\S+\n$/);
  const stored = await (await bench.longhaul()).store.jobs.find([id]);
  expect(stored[0]?.checkpoint).toBe('{"page": 7}');
});

it('a retry that names a throttle pauses it, and is a failure with its reason', async () => {
  const longhaul = await bench.longhaul();
  const id = await bench.add('limited');
  const job = await bench.until(id, ({ failures }) => failures === 1);
  expect(job).toMatchObject({ state: 'waiting', failure: { group: 'retry', message: 'HTTP 429' } });
  const [throttle] = await longhaul.throttles();
  expect(throttle).toMatchObject({ name: 'api', waiting: 0 });
  const pauseMs = (throttle?.nextStartAt ?? 0) - Date.now();
  expect(pauseMs).toBeGreaterThan(500_000);
  expect(pauseMs).toBeLessThanOrEqual(600_000);
});

it('every attempt starts from the same state, except for the checkpoint', async () => {
  const id = await bench.add('carries');
  expect(await bench.until(id, ended)).toMatchObject({ state: 'failed', attempt: 2 });
  expect(bench.log(id, 1)).toBe('data.json\nout\n');
  expect(bench.log(id, 2)).toBe('checkpoint.json\ndata.json\nout\n{"page":1}');
});

it('a job that waited for others finds their results and files beside its data', async () => {
  const first = await bench.add('makes');
  const { id } = await (await bench.longhaul()).queue('finds').add(null, { dependsOn: [first] });
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done' });
  expect(JSON.parse(bench.log(id))).toMatchObject([
    {
      id: first,
      queue: 'makes',
      state: 'done',
      result: { n: 7 },
      attachments: [{ name: 'made.txt', direction: 'out' }],
    },
  ]);
});

it('keeps an attempt without output, and one without reports', async () => {
  const id = await bench.add('bash', { param1: 'quiet' });
  expect(await bench.until(id, ended)).toMatchObject({ state: 'done', result: null });
  expect(bench.log(id)).toBe('');
  expect(bench.run('logs', id)).toEqual({ code: 0, output: '' });
});
