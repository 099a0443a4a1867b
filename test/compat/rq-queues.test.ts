/** RQ's forms, marker files and command line answer as RQ itself answered when it was recorded (rq-queue-recorded.ts). */
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { waitFor } from '../../src/testing/index.ts';
import { rqSession } from './rq-command-line.ts';
import { RqNode } from './rq-node.ts';
import { talkAboutForm, talkAboutQueues, talkAboutStates, talkOverCommandLine } from './rq-queue-conversation.ts';
import { COMMAND_LINE, FORM, QUEUES, STATES } from './rq-queue-recorded.ts';

const rq = new RqNode();
const commandLine = rqSession(rq.home);
let base = '';
beforeAll(async () => {
  mkdirSync(join(rq.home, 'code'), { mode: 0o755 });
  rq.script(join(rq.home, 'code/talk.sh'), 'echo "done all of it" >&3');
  base = await rq.serve();
});
const host = () => ({ base, home: rq.home, file: '' });

test('rq queues as recorded: forms, names, files and pages', async () => {
  expect(await talkAboutQueues(host())).toEqual(QUEUES);
});

test('rq states as recorded: forms and marker files', async () => {
  expect(await talkAboutStates(host())).toEqual(STATES);
});

test('rq form.json as recorded: labels, notes and hidden fields', async () => {
  expect(await talkAboutForm(host())).toEqual(FORM);
  writeFileSync(join(rq.home, 'queue/talk/form.json'), '{"default":');
  const broken = await fetch(new URL('/q/talk/new_message', base));
  expect([broken.status, await broken.text()]).toEqual([400, expect.stringContaining('form.json: is not valid JSON')]);
});

test('rq command line as recorded: exit codes and answer lines', async () => {
  expect(await talkOverCommandLine(host(), commandLine)).toEqual(COMMAND_LINE);
});

test('rq config.json on disk: a changed file is read at a SIGHUP to queue.pid, and a link stays a link', async () => {
  const place = join(rq.home, 'queue/hup/config.json');
  const file = join(rq.folder, 'hup.json');
  const config = { name: 'hup', script: './code/talk.sh', num_workers: '1', exec_prefix: '' };
  writeFileSync(file, JSON.stringify(config));
  await fetch(new URL('/new_queue_link', base), {
    method: 'POST',
    body: new URLSearchParams({ 'queue[json_path]': file }),
    redirect: 'manual',
  });
  expect(lstatSync(place).isSymbolicLink()).toBe(true);
  writeFileSync(`${place}.tmp`, JSON.stringify({ ...config, num_workers: 4 }));
  renameSync(`${place}.tmp`, place);
  process.kill(Number(readFileSync(join(rq.home, 'queue/hup/queue.pid'), 'utf8')), 'SIGHUP');
  const workers = async () =>
    ((await (await fetch(new URL('/q/hup/config', base))).json()) as { num_workers: number }).num_workers;
  expect(await workers()).toBe(4);
});

test('rq marker files: a state that is set elsewhere removes a marker that contradicts it', async () => {
  const marker = join(rq.home, 'config/work.pause');
  writeFileSync(marker, '');
  const status = async () => (await (await fetch(new URL('/q/work.txt', base))).text()).split('\n')[0];
  expect(await status()).toBe('status: PAUSE');
  await fetch(new URL('/api/queues/work', base), {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ state: 'up' }),
  });
  expect(await status()).toBe('status: UP');
  await waitFor('the marker to go', () => !existsSync(marker));
});

test('rq cleaner: deletes done messages by age, and names a queue that is missing', async () => {
  const say = async (mesg: object) => {
    const body = new URLSearchParams({ x_format: 'json', mesg: JSON.stringify({ dest: 'cleaner', ...mesg }) });
    const [, id] = (await (await fetch(new URL('/q/cleaner/new_message', base), { method: 'POST', body })).json()) as [
      string,
      string,
    ];
    const message = async () => (await (await fetch(`${id}.json`)).json()) as { state: string; status: string };
    await waitFor('the cleaner', async () => ['done', 'err'].includes((await message()).state), { deadlineMs: 25_000 });
    return (await message()).status;
  };
  const done = async () => (await (await fetch(new URL('/q/talk/done.json', base))).json()) as string[];
  expect((await done()).length).toBeGreaterThan(0);
  expect(await say({ param1: 'nowhere' })).toBe('err - the specified queue nowhere does not exist');
  expect(await say({ param1: 'talk' })).toBe('done - deleted 0 messages');
  // Days are counted from the creation of a message; with 0 days every done message and every draft is old.
  expect(await say({ param1: 'talk', param2: '0' })).toMatch(/^done - deleted [1-9]\d* messages$/);
  expect(await done()).toEqual([]);
});
