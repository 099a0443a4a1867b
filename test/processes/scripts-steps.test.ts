/** Durable steps of scripts: commands that run once per job, sleeps and events, over kills of scripts and nodes. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import type { ListedStep } from '../../src/node/scripts/steps/step-files.ts';
import type { JobView } from '../../src/wire/job-view.ts';
import { itIf } from '../support/it-if.ts';
import { isFullSize } from '../support/test-size.ts';
import { Bench, cli, eventually } from './scripts-workbench.ts';

const bench = new Bench();
const ledger = join(bench.home, 'ledger');
const bin = join(bench.home, 'bin');
const env = { PATH: `${bin}:${process.env['PATH']}`, LEDGER: ledger };
/** `note` records that it ran; `until_there` waits for `tell`. */
const programs = {
  longhaul: `exec '${process.execPath}' '${cli}' "$@"`,
  note: 'echo "$1" >> "$LEDGER/$LONGHAUL_JOB_ID"',
  encode: 'note encode; echo "12 MB"',
  publish: 'note "publish $1 $2"',
  until_there: 'until [ -e "$LEDGER/$LONGHAUL_JOB_ID.$1" ] || [ $SECONDS -gt 60 ]; do sleep 0.02; done',
};
/** The example of docs/scripts.md. */
const example = readFileSync(join(import.meta.dirname, '../fixtures/scripts/stages.sh'), 'utf8');
const again = { env, retries: 1, backoff: '10ms' };
let node: Awaited<ReturnType<Bench['serve']>>;

function queue(name: string, text: string, settings: object = { env }): void {
  bench.queue(name, text, { concurrency: 4, ...settings });
}
const ran = (id: string): string[] => {
  const path = join(ledger, id);
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
};
const hasRun = (id: string, what: string): Promise<unknown> =>
  eventually(
    () => ran(id),
    (all) => all.includes(what),
    30_000,
  );
const tell = (id: string, what: string): void => writeFileSync(join(ledger, `${id}.${what}`), '');
const stepsOf = async (id: string) => (await bench.longhaul()).store.jobs.steps(id);
const isOver = ({ state }: JobView): boolean => ['done', 'failed', 'cancelled'].includes(state);
const isSuspended = ({ label }: JobView): boolean => label === 'suspended';
const eventsOf = async (id: string): Promise<string[]> =>
  (await (await bench.longhaul()).store.jobs.history(id)).map(({ event }) => event);

/** Whether other users can enter every folder above a file. */
const isOpen = (path: string): boolean =>
  path === '/' || ((statSync(dirname(path)).mode & 0o001) !== 0 && isOpen(dirname(path)));

beforeAll(async () => {
  mkdirSync(ledger);
  mkdirSync(bin);
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  queue(
    'once',
    `for name in cut cut mix; do longhaul step $name -- bash -c "note $name; echo out $name; echo err $name >&2"; echo "status $?"; done
longhaul step odd --accept 3 -- bash -c 'note odd; printf "\\377\\0"; exit 3' | od -An -tx1; echo "odd \${PIPESTATUS[0]}"
longhaul step bad -- bash -c 'note bad; [ $LONGHAUL_ATTEMPT = 2 ] || exit 9'; bad=$?; echo "bad $bad"; exit $bad`,
    again,
  );
  queue(
    'large',
    `longhaul step big -- bash -c 'note big; seq 60000; echo small >&2' | cksum; [ $LONGHAUL_ATTEMPT = 2 ]`,
    again,
  );
  queue(
    'tries',
    `longhaul step flaky --retries 2 --backoff 10ms,20ms -- bash -c 'note flaky; [ "$(grep -c flaky "$LEDGER/$LONGHAUL_JOB_ID")" = 3 ]'; echo "flaky $?"
longhaul step slow --timeout 200ms -- bash -c 'note slow; sleep 60 & wait'; echo "slow $?"; longhaul step none -- /no/such; echo "none $?"`,
  );
  queue(
    'killed',
    `longhaul step first -- bash -c 'note first; echo one'; note between; [ $LONGHAUL_ATTEMPT = 1 ] && until_there go
longhaul step second -- bash -c 'note second; echo two'`,
    again,
  );
  queue(
    'away',
    `longhaul step long -- bash -c 'note begun; until_there go; echo result; note ended'; echo "kept $?"; longhaul step next -- note next`,
  );
  queue(
    'pauses',
    `echo "part"; longhaul step cut -- note cut; passed=$(grep -c '"kind": "sleep"' steps.json 2>/dev/null)
if [ "\${passed:-0}" -lt 2 ]; then echo "sleep 0.3" >&3; exit 0; fi; cp steps.json "$LEDGER/$LONGHAUL_JOB_ID.json"; note end`,
  );
  queue('approval', example.replace('2d', '10ms').replace('7d', '"$RQ_PARAM1"'));
  queue('twice', 'set -e; a=$(longhaul step --event go); b=$(longhaul step --event go --timeout 1h); note "$a $b"');
  queue('slept', 'set -e; longhaul step --sleep 10ms; note awake; longhaul step --sleep 5100ms; note later');
  queue('fails', 'echo "sleep 60" >&3; exit 4');
  queue('unclear', 'echo "sleep 1h" >&3');
  queue('unclear-rq', 'echo "sleep 1h" >&3; echo "wait for disk" >&3; echo "done as in RQ" >&3', {
    handshake: 'required',
  });
  queue('lingers', '[ -e steps.json ] && exit; echo "sleep 0.2" >&3; note wrote; until_there go; exit 0');
  queue('as-user', 'id -u; longhaul step cut -- note cut; echo "status $?"; [ $LONGHAUL_ATTEMPT = 2 ]', {
    ...again,
    user: 'nobody',
  });
  for (const folder of [bench.home, bench.queues]) chmodSync(folder, 0o711);
  chmodSync(ledger, 0o777);
  queue(
    'stormy',
    `for name in a b c d e; do longhaul step $name -- bash -c "note $name; sleep 0.1" || exit 1; note "kept $name"; done`,
    { ...again, concurrency: 6, retries: 1_000, maxCrashes: 1_000 },
  );
  queue('stale', `LONGHAUL_ATTEMPT_TOKEN=1 longhaul step cut -- note cut; echo "status $?"`);
  queue(
    'outside',
    `longhaul step a -- longhaul step --sleep 1h; echo "status $?"; longhaul step b; echo "status $?"; longhaul step c -- ''; echo "status $?"`,
  );
  node = await bench.serve();
  // All at once: the tests below check how each of them ended.
  for (const name of ['once', 'large', 'tries', 'pauses', 'fails', 'unclear', 'unclear-rq', 'stale', 'outside'])
    begun.set(name, await bench.add(name));
});

const begun = new Map<string, string>();
const idOf = (name: string): string => begun.get(name) ?? '';

it('a step that succeeded does not run again: its output and its exit status are those that were kept', async () => {
  const id = idOf('once');
  expect(await bench.until(id, isOver)).toMatchObject({ state: 'done', attempt: 2 });
  expect(ran(id)).toEqual(['cut', 'cut', 'mix', 'odd', 'bad', 'bad']);
  const output = ['cut', 'cut', 'mix'].flatMap((name) => [`out ${name}`, `err ${name}`, 'status 0']);
  const [first, second] = [1, 2].map((attempt) => bench.log(id, attempt).trimEnd().split('\n'));
  const sorted = (lines: readonly string[]) => lines.toSorted();
  expect(sorted(first ?? [])).toEqual(
    sorted([...output, ' ff 00', 'odd 3', 'longhaul: step bad failed: exit status 9', 'bad 9']),
  );
  expect(sorted(second ?? [])).toEqual(sorted([...output, ' ff 00', 'odd 3', 'bad 0']));
  const steps = await stepsOf(id);
  expect(steps.map(({ name, status, attempts }) => [name, status, attempts])).toEqual([
    ['cut', 'done', 1],
    ['cut#2', 'done', 1],
    ['mix', 'done', 1],
    ['odd', 'done', 1],
    ['bad', 'done', 2],
  ]);
  expect(JSON.parse(steps[0]?.result ?? '')).toEqual({ exit: 0, stdout: 'out cut\n', stderr: 'err cut\n' });
});

it('output over 256 KB becomes an attachment, and is printed from there', async () => {
  const id = idOf('large');
  expect(await bench.until(id, isOver)).toMatchObject({ state: 'done', attempt: 2 });
  expect(ran(id)).toEqual(['big']);
  expect(bench.log(id, 2).split('\n').sort()).toEqual(bench.log(id, 1).split('\n').sort());
  const [step] = await stepsOf(id);
  const content = { stdout: { attachment: 'steps/big.stdout' }, stderr: { attachment: 'steps/big.stderr' } };
  expect(JSON.parse(step?.result ?? '')).toEqual({ exit: 0, ...content });
  expect(bench.run('show', id, '--json').output).toContain('steps/big.stdout');
});

it('a failed command runs again within the attempt, one that takes too long is ended with all its processes', async () => {
  const id = idOf('tries');
  expect(await bench.until(id, isOver)).toMatchObject({ state: 'done', attempt: 1 });
  expect(ran(id)).toEqual(['flaky', 'flaky', 'flaky', 'slow']);
  const log = bench.log(id);
  expect(log).toContain('flaky 0\n');
  expect(log).toContain('longhaul: step slow failed: it took longer than 200 ms\nslow 124\n');
  expect(log).toContain('longhaul: step none failed: there is no program /no/such\nnone 127\n');
  expect((await stepsOf(id)).map(({ status, attempts }) => [status, attempts])).toEqual([
    ['done', 3],
    ['failed', 1],
    ['failed', 1],
  ]);
});

it('sleep: the script is started again in the same attempt, its log continues, and steps.json lists what is done', async () => {
  const id = idOf('pauses');
  const job = await bench.until(id, isOver);
  expect(job).toMatchObject({ state: 'done', attempt: 1, failures: 0 });
  expect(ran(id)).toEqual(['cut', 'end']);
  expect(bench.log(id)).toBe('part\npart\npart\n');
  const pause = ['suspended', 'resumed'];
  expect((await eventsOf(id)).filter((event) => event !== 'added')).toEqual([
    'claimed',
    ...pause,
    ...pause,
    'completed',
  ]);
  const steps = JSON.parse(readFileSync(join(ledger, `${id}.json`), 'utf8')) as ListedStep[];
  expect(steps).toMatchObject([
    { number: 1, kind: 'run', name: 'cut', status: 'done', result: { exit: 0, stdout: '', stderr: '' } },
    { number: 2, kind: 'sleep', name: 'sleep', status: 'done' },
    { number: 3, kind: 'sleep', name: 'sleep#2', status: 'done' },
  ]);
  const { end } = bench.record(id);
  expect(end?.wallMs).toBeLessThan((job.endedAt ?? 0) - job.createdAt - 500);
});

it('wait: a suspended script holds no slot, gets the data of its event, and fails after the timeout', async () => {
  const longhaul = await bench.longhaul();
  const id = await bench.add('approval', { param1: '1h' });
  expect(await bench.until(id, isSuspended)).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('waiting for approval'),
    lease: null,
  });
  expect(existsSync(join(bench.folder(id), 'work'))).toBe(false);
  expect(await longhaul.notify(id, 'approval', { by: 'ann' })).toMatchObject({ ok: true, outcome: 'woken' });
  expect(await bench.until(id, isOver)).toMatchObject({ state: 'done', attempt: 1, failures: 0 });
  expect(ran(id)).toEqual(['encode', 'publish 12 MB {"by":"ann"}']);

  const late = await bench.add('approval', { param1: '100ms' });
  expect(await bench.until(late, isOver)).toMatchObject({
    state: 'failed',
    failure: { group: 'exit 124: longhaul: event approval did not arrive in time' },
  });
  expect(bench.log(late)).toContain('longhaul: event approval did not arrive in time');
  expect(ran(late)).toEqual(['encode']);
});

it('a script that waits must exit with 0 or 75; its time counts from the line, however long it lingers', async () => {
  expect(await bench.until(idOf('fails'), isOver)).toMatchObject({ state: 'failed', failure: { group: 'exit 4' } });
  expect(await bench.until(idOf('unclear'), isOver)).toMatchObject({
    state: 'failed',
    failure: { message: 'sleep 1h: write sleep SECONDS, such as sleep 3600' },
  });
  expect(await bench.until(idOf('unclear-rq'), isOver)).toMatchObject({
    state: 'done',
    result: { status: 'as in RQ' },
  });
  const id = await bench.add('lingers');
  await hasRun(id, 'wrote');
  const [step] = await eventually(
    () => stepsOf(id),
    ([first]) => first?.until != null,
  );
  await eventually(Date.now, (now) => now > (step?.until ?? 0));
  expect(await bench.find(id)).toMatchObject({ state: 'running' });
  tell(id, 'go');
  expect(await bench.until(id, isOver)).toMatchObject({ state: 'done', attempt: 1 });
  expect(await stepsOf(id)).toMatchObject([{ until: step?.until, status: 'done' }]);
});

itIf(isFullSize)('a sleep of the command line: up to 5 s in the script, longer ones suspend it', async () => {
  const id = await bench.add('slept');
  expect(await bench.until(id, isSuspended)).toMatchObject({ reason: expect.stringContaining('sleeping') });
  expect(await bench.until(id, isOver)).toMatchObject({ state: 'done', attempt: 1 });
  expect(ran(id)).toEqual(['awake', 'awake', 'later']);
  expect(await stepsOf(id)).toMatchObject([{ kind: 'sleep', name: 'sleep', status: 'done' }]);
});

itIf(process.getuid?.() === 0 && isOpen(cli))('a script of another user keeps its steps too', async () => {
  const id = await bench.add('as-user');
  expect(await bench.until(id, isOver)).toMatchObject({ state: 'done', attempt: 2 });
  expect(bench.log(id)).toBe('65534\nstatus 0\n');
  expect(ran(id)).toEqual(['cut']);
});

it('a stale token is refused with exit status 1, and misuse with 2', async () => {
  const [stale, outside] = [idOf('stale'), idOf('outside')];
  await bench.until(stale, isOver);
  expect(bench.log(stale)).toMatch(/^longhaul: step cut was not kept: its token 1 is stale: .*\nstatus 1\n$/);
  expect(await stepsOf(stale)).toEqual([]);
  await bench.until(outside, isOver);
  expect(bench.log(outside)).toMatch(/was called inside step a: call it between steps\n.*\nstatus 2\n/);
  expect(bench.log(outside)).toMatch(/give one of NAME -- COMMAND[^]*status 2\n/);
  expect(bench.log(outside)).toMatch(/COMMAND is missing after --[^]*status 2\n$/);
  expect(bench.run('step', 'cut', '--', 'true')).toMatchObject({
    code: 2,
    output: expect.stringContaining('works only in a script that Longhaul runs'),
  });
});

it('a script that is killed between two steps does not run the first one again', { retry: 0 }, async () => {
  const id = await bench.add('killed');
  await hasRun(id, 'between');
  const [, script = ''] = readFileSync(join(bench.folder(id), 'pid'), 'utf8').split('\n');
  process.kill(Number(script.split(' ')[0]), 'SIGKILL');
  expect(await bench.until(id, isOver)).toMatchObject({ state: 'done', attempt: 2 });
  expect(ran(id)).toEqual(['first', 'between', 'between', 'second']);
  expect(bench.log(id, 2)).toBe('one\ntwo\n');
});

it('a command that ends while the node is down is kept by the next node, and its script waits for that', {
  retry: 0,
}, async () => {
  const [id, other] = [await bench.add('away'), await bench.add('killed')];
  await hasRun(id, 'begun');
  await hasRun(other, 'between');
  await node.kill9();
  tell(id, 'go');
  tell(other, 'go');
  await hasRun(id, 'ended');
  await hasRun(other, 'second');
  node = await bench.serve();
  for (const each of [id, other])
    expect(await bench.until(each, isOver)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 });
  expect(ran(id)).toEqual(['begun', 'ended', 'next']);
  expect(bench.log(id)).toBe('result\nkept 0\n');
  expect(ran(other)).toEqual(['first', 'between', 'second']);
  expect((await stepsOf(other)).map(({ name, status }) => [name, status])).toEqual([
    ['first', 'done'],
    ['second', 'done'],
  ]);
});

itIf(isFullSize)(
  'an event that arrives before the script waits is kept for it, and each wait has its own',
  async () => {
    const longhaul = await bench.longhaul();
    const { id } = await longhaul.queue('twice').add(null, { delay: '1h' });
    expect(await longhaul.notify(id, 'go', 1)).toMatchObject({ ok: true, outcome: 'kept' });
    expect(await longhaul.notify(id, 'go', 2)).toMatchObject({ ok: true, outcome: 'ignored' });
    await longhaul.store.jobs.change([{ id, runAt: 0 }]);
    expect(await bench.until(id, (job) => job.suspension?.event === 'go#2')).toMatchObject({ state: 'waiting' });
    expect(await longhaul.notify(id, 'go', 3)).toMatchObject({ ok: true, outcome: 'woken' });
    expect(await bench.until(id, isOver)).toMatchObject({ state: 'done', attempt: 1 });
    expect(ran(id).at(-1)).toBe('1 3');
  },
);

itIf(isFullSize)(
  'nodes and scripts are killed at any moment, and no kept step runs again',
  { retry: 0, timeout: 120_000 },
  async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => bench.add('stormy')));
    const random = (limit: number): number => Math.floor(Math.random() * limit);
    for (const until = Date.now() + 25_000; Date.now() < until; ) {
      await sleep(random(500));
      const running = (await Promise.all(ids.map((id) => bench.find(id)))).filter(({ state }) => state === 'running');
      const { id, attempt } = running[random(running.length)] ?? { id: '', attempt: 0 };
      const pids = existsSync(join(bench.folder(id, attempt), 'pid'))
        ? readFileSync(join(bench.folder(id, attempt), 'pid'), 'utf8').split('\n')
        : [];
      // Of the shim, or of the script.
      const pid = Number(pids[random(2)]?.split(' ')[0] ?? 0);
      if (pid > 0 && existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
      if (random(4) > 0) continue;
      await node.kill9();
      await sleep(random(300));
      node = await bench.serve();
    }
    for (const id of ids) {
      expect(await bench.until(id, isOver, 60_000)).toMatchObject({ state: 'done' });
      const lines = ran(id);
      for (const name of ['a', 'b', 'c', 'd', 'e'])
        expect(lines.slice(lines.indexOf(`kept ${name}`)).filter((line) => line === name)).toEqual([]);
      expect((await stepsOf(id)).map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'done'));
    }
    const runs = ids.flatMap((id) => ran(id).filter((line) => !line.startsWith('kept'))).length;
    process.stdout.write(`\nfigures: ${runs} runs of ${ids.length * 5} steps\n`);
  },
);
