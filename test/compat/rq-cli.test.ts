/** RQ's command line and its unix sockets, each command named after it, against a real node. */
import { createHash } from 'node:crypto';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { waitFor } from '../../src/testing/index.ts';
import type { CommandResult } from './rq-command-line.ts';
import { rqProgram, rqSession, runRqProgram } from './rq-command-line.ts';
import { RqNode } from './rq-node.ts';

const rqNode = new RqNode();
let base = '';
const rq = rqSession(rqNode.home);
beforeAll(async () => {
  base = await rqNode.serve();
});

const idIn = ({ stdout }: CommandResult): string => /^ok (\S+)\n$/.exec(stdout)?.[1] ?? expect.fail(stdout);
/** Waits over HTTP, which needs no process. */
async function untilState(id: string, state: string): Promise<void> {
  const read = async () => ((await (await fetch(`${id}/state.json`)).json()) as readonly unknown[])[0];
  await waitFor(`${id} ${state}`, async () => (await read()) === state, { deadlineMs: 25_000 });
}

test('rq sendmesg, state, statusmesg, statuscountmesg: sent, done, and said so', async () => {
  // As a program of its own that is linked as `rq`.
  const link = join(rqNode.folder, 'rq');
  symlinkSync(rqProgram, link);
  const words = ['sendmesg', '--dest', 'work', '--src=me', '--param1=a b', '--max_count', '3'];
  const id = idIn(await runRqProgram(link, rqNode.home, words));
  expect(await runRqProgram(link, rqNode.home, ['sing'])).toMatchObject({ code: 1 });
  expect(id).toMatch(/^http:\/\/localhost:\d+\/q\/work\//);
  await untilState(id, 'done');
  expect((await rq('state', '--msg_id', id)).stdout).toBe('ok done\n');
  expect((await rq('statusmesg', '--msg_id', id)).stdout).toBe('ok done - all of it\n');
  expect((await rq('statuscountmesg', '--msg_id', id)).stdout).toBe('ok 0\n');
});

test('rq verify_rules: ok or fail, and what each rule does', async () => {
  const path = join(rqNode.folder, 'rules.json');
  const rules = [{ name: 'mail', match: { destination: 'mail' }, relay: ['http://far.test:3333'] }];
  writeFileSync(path, JSON.stringify({ rules, default: { end: 'failed' } }));
  expect(await rq('verify_rules', '--path', path)).toMatchObject({ code: 0, stdout: 'ok\n' });
  const verbose = await rq('verify_rules', '--path', path, '--verbose');
  expect(verbose.stdout).toMatch(/^ok\n1 rule\nmail: to http:\/\/far\.test:3333/);
  writeFileSync(path, '{"rules":[{"name":"x"}]}');
  expect(await rq('verify_rules', '--path', path)).toMatchObject({ code: 1, stdout: expect.stringMatching(/^fail /) });
  const gone = await rq('verify_rules', '--path', `${path}.gone`);
  expect(gone).toMatchObject({ code: 1, stdout: expect.stringContaining('there is no file') });
});

test('rq prepmesg, attachmesg, attachstatusmesg, commitmesg, clone: a message with a file, in two phases', async () => {
  const file = join(rqNode.folder, 'film.txt');
  writeFileSync(file, 'frames');
  const md5 = createHash('md5').update('frames').digest('hex');
  const id = idIn(await rq('prepmesg', '--dest', 'work', '--param1', 'x'));
  expect((await rq('state', '--msg_id', id)).stdout).toBe('ok prep\n');
  const attached = await rq('attachmesg', '--msg_id', id, '--pathname', file, '--name', 'other.txt');
  expect(attached.stdout).toBe(`ok ${md5}-Attached successfully for Message: ${id} attachment\n`);
  const { stdout } = await rq('attachstatusmesg', '--msg_id', id);
  const [, path = ''] = new RegExp(`^ok 1\nother.txt ${md5} 6 (/\\S+)\n$`).exec(stdout) ?? expect.fail(stdout);
  expect(readFileSync(path, 'utf8')).toBe('frames');
  expect((await rq('commitmesg', '--msg_id', id)).stdout).toBe('ok msg commited\n');
  await untilState(id, 'done');
  const copy = idIn(await rq('clone', '--msg_id', id));
  expect(copy).not.toBe(id);
  expect((await rq('attachstatusmesg', '--msg_id', copy)).stdout).toMatch(/^ok 1\n/);
});

test('rq single_que: returns the message that already waits', async () => {
  const due = String(Math.floor(Date.now() / 1_000) + 3_600);
  const one = idIn(await rq('single_que', '--dest', 'work', '--due', due));
  expect(idIn(await rq('single_que', '--dest', 'work', '--due', due))).toBe(one);
});

test('rq failures: fail and exit 1, for wrong usage too', async () => {
  expect(await rq('sendmesg', '--dest', 'no_such')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^fail .*no_such/),
  });
  expect(await rq('state', '--msg_id', `${base}/q/work/nothing`)).toMatchObject({
    code: 1,
    stdout: 'fail msg not found\n',
  });
  expect(await rq('sendmesg', '--dest', 'http://far.test/q/x')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('--relay-ok'),
  });
  expect(await rq('attachmesg', '--msg_id', `${base}/q/work/x`, '--pathname', 'here.txt')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^fail No such file \/.*here\.txt to attach to message\n$/),
  });
  expect(await rq('sendmesg')).toMatchObject({ code: 1, stderr: expect.stringContaining('--dest is missing') });
  expect(await rq('sing')).toMatchObject({ code: 1, stderr: expect.stringContaining('sendmesg') });
});

test('rq check: exit codes as Nagios wants them', async () => {
  const bad = idIn(await rq('sendmesg', '--dest', 'work', '--param1', 'bad'));
  await untilState(bad, 'err');
  expect(await rq('check')).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/^CRITICAL: work has \d+ in err\n$/),
  });
  const port = new URL(base).port;
  expect((await rq('check', '-s', 'localhost', '-p', port)).code).toBe(2);
  await fetch(new URL(bad), { method: 'POST', body: new URLSearchParams({ _method: 'delete' }) });
  expect(await rq('check')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK: \d+ queues\n$/) });
  expect((await rq('check', '-t', '1:1000:3000:3500')).code).toBe(1);
  expect((await rq('check', '-s', 'localhost', '-p', '1')).code).toBe(3);
  expect((await rq('check', '-t', 'many')).code).toBe(2);
});

/** One request in RQ's frames, to a socket of the home. */
async function overSocket(path: string, body: string): Promise<unknown> {
  const socket = connect(join(rqNode.home, path));
  socket.write(`rq1 ${String(Buffer.byteLength(body)).padStart(8, '0')} ${body}`);
  const answer = Buffer.concat((await socket.toArray()) as Buffer[]).toString('utf8');
  const [, size, text = ''] = /^rq1 (\d{8}) ([\s\S]*)$/.exec(answer) ?? [];
  expect(Buffer.byteLength(text)).toBe(Number(size));
  return JSON.parse(text);
}
const toManager = (body: string) => overSocket('config/queuemgr.sock', body);
const toQueue = (body: string) => overSocket('queue/work/queue.sock', body);

test('rq socket manager: ping environment version queues uptime pause_queue resume_queue down_queue up_queue restart_queue', async () => {
  expect(await toManager('ping')).toEqual(['pong']);
  expect(await toManager('environment')).toEqual(['development']);
  expect(await toManager('version')).toEqual([expect.any(String)]);
  expect(await toManager('queues')).toContain('work');
  expect(await toManager('uptime')).toEqual([expect.any(Number)]);
  expect(await toManager('pause_queue work')).toEqual(['ok', 'work']);
  expect(await toQueue('status')).toEqual(['PAUSE']);
  expect(await toManager('resume_queue work')).toEqual(['ok', 'work']);
  expect(await toManager('down_queue work')).toEqual(['ok', 'work']);
  expect(await toManager('up_queue work')).toEqual(['ok', 'work']);
  expect(await toManager('restart_queue work')).toEqual(['ok', 'work']);
  expect(await toManager('dance')).toEqual(['error']);
});

test('rq socket manager: create_queue create_queue_link delete_queue', async () => {
  const path = rqNode.script(join(rqNode.folder, 'scripts/made'), 'echo "done made" >&3');
  const config = { name: 'made', script: path, num_workers: '1', exec_prefix: '' };
  expect(await toManager(`create_queue ${JSON.stringify(config)}`)).toEqual(['success', 'queue created - awesome']);
  expect(await toManager(`create_queue ${JSON.stringify(config)}`)).toEqual(['fail', 'already created']);
  writeFileSync(join(rqNode.folder, 'linked.json'), JSON.stringify({ ...config, name: 'linked' }));
  expect(await toManager(`create_queue_link ${join(rqNode.folder, 'linked.json')}`)).toEqual([
    'success',
    'queue created - awesome',
  ]);
  expect(await toManager('delete_queue made')).toEqual(['ok', 'started deleting queue']);
});

test('rq socket queue: ping uptime config status num_messages messages shutdown', async () => {
  expect(await toQueue('ping')).toEqual(['pong']);
  expect(await toQueue('uptime')).toEqual([expect.any(Number)]);
  expect(await toQueue('config')).toMatchObject(['ok', { name: 'work' }]);
  expect(await toQueue('status')).toEqual(['UP']);
  expect(await toQueue('num_messages')).toMatchObject({
    prep: expect.any(Number),
    que: expect.any(Number),
    done: expect.any(Number),
  });
  expect(await toQueue('messages {"state":"done","limit":1}')).toEqual([
    expect.objectContaining({ msg_id: expect.any(String) }),
  ]);
  expect(await toQueue('shutdown')).toEqual(['ok']);
  expect(await toQueue('sing')).toEqual(['ERROR']);
});

test('rq socket queue: create_message prep_message single_que attach_message delete_attach_message commit_message', async () => {
  const [, id] = (await toQueue('create_message {"dest":"work","param1":"s"}')) as [string, string];
  await untilState(id, 'done');
  const [, made] = (await toQueue('prep_message {"dest":"work"}')) as [string, string];
  const msg_id = made.split('/').at(-1);
  writeFileSync(join(rqNode.folder, 'a.txt'), 'a');
  const attach = { msg_id, pathname: join(rqNode.folder, 'a.txt'), name: 'b.txt' };
  for (const pathname of ['/no/such/file', rqNode.folder])
    expect(await toQueue(`attach_message ${JSON.stringify({ ...attach, pathname })}`)).toEqual([
      'fail',
      expect.any(String),
    ]);
  const md5 = createHash('md5').update('a').digest('hex');
  expect(await toQueue(`attach_message ${JSON.stringify(attach)}`)).toEqual(['ok', `${md5}-Attached successfully`]);
  expect(await toQueue(`delete_attach_message ${JSON.stringify({ msg_id, attachment_name: 'b.txt' })}`)).toEqual([
    'ok',
    'Attachment deleted successfully',
  ]);
  expect(await toQueue(`commit_message ${JSON.stringify({ msg_id })}`)).toEqual(['ok', 'msg commited']);
  await untilState(made, 'done');
  expect(await toQueue('single_que {"dest":"work"}')).toEqual(['ok', expect.stringContaining('/q/work/')]);
});

test('rq socket queue: get_message get_message_state get_message_status run_message destroy_message clone_message delete_message', async () => {
  const due = Math.floor(Date.now() / 1_000) + 3_600;
  const [, id] = (await toQueue(`create_message {"dest":"work","due":${due}}`)) as [string, string];
  const msg_id = id.split('/').at(-1);
  const one = JSON.stringify({ msg_id });
  expect(await toQueue(`get_message ${one}`)).toEqual(['ok', expect.objectContaining({ msg_id, state: 'que', due })]);
  expect(await toQueue(`get_message_state ${one}`)).toEqual(['ok', 'que']);
  expect(await toQueue(`get_message_status ${one}`)).toMatchObject(['ok', { status: 'que', state: 'que' }]);
  expect(await toQueue(`run_message ${one}`)).toEqual(['ok', 'msg sent to front of run queue']);
  await untilState(id, 'done');
  const [, copy] = (await toQueue(`clone_message ${one}`)) as [string, string];
  await untilState(copy, 'done');
  expect(await toQueue(`delete_message ${one}`)).toEqual(['ok', 'msg deleted']);
  expect(await toQueue(`get_message ${one}`)).toEqual(['fail', expect.any(String)]);
  const [, slow] = (await toQueue('create_message {"dest":"work","param1":"slow"}')) as [string, string];
  await untilState(slow, 'run');
  expect(await toQueue(`destroy_message ${JSON.stringify({ msg_id: slow })}`)).toEqual(['ok', 'msg destroyed']);
  await untilState(slow, 'err');
});
