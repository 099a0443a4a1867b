/**
 * RQ's script API as implemented by RQ, line by line, through queues with RQ's configuration.
 *
 * Each title is a line of docs/decisions/0007-rq-script-api.md, and each line there that is kept has its test here:
 * test/docs/rq-script-api.test.ts holds the two equal.
 */
import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JobView } from '../../src/wire/job-view.ts';
import { Bench } from './scripts-workbench.ts';

const bench = new Bench();
const home = realpathSync(bench.home);
const code = join(home, 'code');
const host = 'http://butter:3334/';

/** A queue in RQ's format: its config.json, and a script in RQ's directory. */
function aQueue(name: string, text: string, config: object = {}): void {
  writeFileSync(join(code, `${name}.sh`), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  mkdirSync(join(bench.queues, name));
  const all = { name, script: `./code/${name}.sh`, num_workers: '4', exec_prefix: '', ...config };
  writeFileSync(join(bench.queues, name, 'config.json'), JSON.stringify(all));
}

beforeAll(async () => {
  mkdirSync(code, { mode: 0o755 });
  const settings = { url: host, port: 3334, env: 'test' };
  writeFileSync(join(bench.home, 'node.json'), JSON.stringify(settings));
  // Writes the first parameter to fd 3; the second parameter is the exit status.
  aQueue('reports', 'printf "%b" "$RQ_PARAM1" >&3; exit "${RQ_PARAM2:-0}"');
  aQueue(
    'place',
    'echo "$PWD"; ls -1 /proc/self/fd | tr "\\n" " "; readlink /proc/self/fd/0; nice; echo "done $#:${RUBYOPT-unset}" >&3',
  );
  aQueue('prefixed', 'echo "done $(shopt -p login_shell)" >&3', { exec_prefix: undefined });
  aQueue('variables', 'env; echo "done" >&3', { env_vars: { COLOUR: 'green', RQ_VER: 'forged' } });
  aQueue('streams', 'echo one; echo two >&2; echo three; echo done >&3');
  aQueue(
    'again',
    'if [ $RQ_COUNT -lt 2 ]; then echo "resend 0-${RQ_COUNT}-more" >&3; else echo "done $RQ_COUNT" >&3; fi',
  );
  aQueue('ever', 'echo "resend 0x-again" >&3');
  aQueue(
    'copies',
    'echo "dup 0-X-$RQ_PARAM1" >&3; read -r -u 4 answer; echo "$answer"; echo "run after" >&3; echo "done $answer" >&3',
  );
  aQueue('copied', 'echo "$RQ_COUNT $RQ_PARAM1 $RQ_ORIG_MSG_ID $(cat attach/note 2>/dev/null)"; echo done >&3');
  aQueue('killed', 'kill -TERM $$; sleep 5');
  aQueue('beside', 'umask; cat ../msg; echo; cat ../attach/note.txt; echo done >&3');
  aQueue('closes', 'echo "run before" >&3; exec 3>&-; sleep 0.2');
  aQueue('linked', 'echo "done first" >&3', { script: './code/link.sh' });
  aQueue('barred', 'echo "done let in" >&3');
  symlinkSync('linked.sh', join(code, 'link.sh'));
  chmodSync(join(code, 'barred.sh'), 0o644);
  await bench.serve([], { RUBYOPT: '-w' });
});

const ended = ({ state }: JobView): boolean => ['done', 'failed', 'cancelled'].includes(state);
const run = async (queue: string, data: object = {}, options: object = {}): Promise<JobView> =>
  bench.until(await bench.add(queue, data, options), ended, 30_000);
/** The log without RQ's first line. */
const output = ({ id }: JobView): string => bench.log(id).replace(/^\n\d+ - .* - RQ START - .*\n/, '');
const reports = (lines: string, exit = 0): Promise<JobView> => run('reports', { param1: lines, param2: String(exit) });
const err = (message: string) => ({ state: 'failed', failure: { message } });
const done = (status: string) => ({ state: 'done', result: { status } });
/** As recorded from RQ 1.18.3: `pid 5824 exit 1`, `pid 5857 SIGTERM (signal 15)`. */
const improperly = (completion: string, exit: string): object => ({
  state: 'failed',
  failure: {
    message: expect.stringMatching(
      new RegExp(
        `^PROCESS EXITED IMPROPERLY - MOVING TO ERR - Completion was ${completion} but exit status was pid \\d+ ${exit}$`,
      ),
    ),
  },
});

describe('start', () => {
  it('the script path is resolved through its links at each start, and RQ_SCRIPT is as configured', async () => {
    rmSync(join(code, 'link.sh'));
    symlinkSync('linked.sh', join(code, 'link.sh'));
    expect(await run('linked')).toMatchObject(done('first'));
    writeFileSync(join(code, 'other.sh'), '#!/bin/bash\necho "done $RQ_SCRIPT $RQ_REALSCRIPT" >&3\n', { mode: 0o755 });
    rmSync(join(code, 'link.sh'));
    symlinkSync('other.sh', join(code, 'link.sh'));
    expect(await run('linked')).toMatchObject(done(`./code/link.sh ${join(code, 'other.sh')}`));
  });

  it('a script that is not executable is a script error', async () => {
    chmodSync(join(code, 'barred.sh'), 0o644);
    const id = await bench.add('barred');
    const { store } = await bench.longhaul();
    const problems = () => store.records.list({ kind: 'queue-problem', prefix: 'barred/', limit: 10 });
    await expect.poll(async () => (await problems())[0]?.value).toMatch(/script-error.*is not executable/);
    chmodSync(join(code, 'barred.sh'), 0o755);
    expect(await bench.until(id, ended, 30_000)).toMatchObject(done('let in'));
  });

  it('the script runs in its job folder, with fd 3 and fd 4 and nothing else open, stdin at /dev/null, nice 19, RUBYOPT removed, and no arguments', async () => {
    const job = await run('place');
    expect(job).toMatchObject(done('0:unset'));
    const [folder, open, stdin, nice] = output(job).replace(' /dev', ' \n/dev').split('\n');
    expect(folder).toBe(join(bench.folder(job.id), 'work'));
    // The fifth is the listing itself; bash keeps the script open as 255, but not for its children.
    expect(open?.trim()).toBe('0 1 2 3 4 5');
    expect([stdin, nice]).toEqual(['/dev/null', '19']);
  });

  it('exec_prefix is bash -lc unless it says otherwise, and an empty one is none', async () => {
    const job = await run('prefixed');
    expect(bench.record(job.id).argv.slice(0, 2)).toEqual([expect.stringMatching(/\/bash$/), '-lc']);
    expect(bench.record((await run('streams')).id).argv).toEqual([join(code, 'streams.sh')]);
  });

  it('a line with pid, time and path opens the log, and stdout and stderr are appended to it', async () => {
    const job = await run('streams');
    expect(bench.log(job.id)).toMatch(
      /^\n\d+ - \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} - RQ START - \S+\/code\/streams\.sh\none\ntwo\nthree\n$/,
    );
  });

  it('the umask is 0022, ../msg is the message, and ../attach/NAME is an attachment', async () => {
    const file = join(bench.home, 'note.txt');
    writeFileSync(file, 'hello\n');
    const data = JSON.stringify({ dest: 'beside', src: 'me', param1: 'a b' });
    const added = bench.run('add', 'beside', data, '--attach', file, '--json');
    const { id } = JSON.parse(added.output) as { id: string };
    const job = await bench.until(id, ended, 30_000);
    const [umask, message = '', attached] = output(job).split('\n');
    expect([umask, attached]).toEqual(['0022', 'hello']);
    expect(JSON.parse(message)).toEqual({
      msg_id: id,
      dest: 'beside',
      orig_msg_id: `${host}q/beside/${id}`,
      count: 0,
      max_count: 15,
      src: 'me',
      param1: 'a b',
      due: expect.any(Number),
    });
    expect(existsSync(join(bench.folder(id), 'msg'))).toBe(false);
    // A job without files has no directory of attachments, as in RQ.
    expect(output(await run('beside'))).toContain('attach/note.txt: No such file');
  });
});

describe('environment', () => {
  const variablesOf = async (data: object): Promise<string[]> => output(await run('variables', data)).split('\n');

  it('env_vars of the queue are set, but for names that begin with RQ_', async () => {
    const variables = await variablesOf({});
    expect(variables).toContain('COLOUR=green');
    expect(variables).not.toContain('RQ_VER=forged');
  });

  it('RQ_PARAM1 to 4 are empty when unset, and RQ_FORCE_REMOTE is there only when set', async () => {
    const plain = await variablesOf({ param1: 'a' });
    expect(plain).toEqual(expect.arrayContaining(['RQ_PARAM1=a', 'RQ_PARAM2=', 'RQ_PARAM3=', 'RQ_PARAM4=']));
    expect(plain.some((line) => line.startsWith('RQ_FORCE_REMOTE'))).toBe(false);
    expect(await variablesOf({ force_remote: true })).toContain('RQ_FORCE_REMOTE=1');
  });

  it('RQ_DEST is an address as it is, a path under this host, or else a queue of this host', async () => {
    expect(await variablesOf({ dest: 'http://a/q/b' })).toContain('RQ_DEST=http://a/q/b');
    expect(await variablesOf({ dest: '/q/b' })).toContain(`RQ_DEST=${host}q/b`);
    expect(await variablesOf({ dest: 'b' })).toContain(`RQ_DEST=${host}q/b`);
  });
});

describe('verbs', () => {
  it('every line stores its text as the status', async () => {
    expect(await reports('done first\\nrun second\\n')).toMatchObject(done('second'));
  });

  it('run, and any unknown verb, also fail, sets the status and nothing else', async () => {
    for (const verb of ['run', 'fail', 'whatever']) expect(await reports(`${verb} x\\n`)).toMatchObject(err('x'));
  });

  it('done, relayed, err and fails are completions, and the first one wins', async () => {
    expect(await reports('done a\\nerr b\\n')).toMatchObject(done('b'));
    expect(await reports('err a\\ndone b\\n')).toMatchObject(err('b'));
    expect(await reports('fails a\\ndone b\\n')).toMatchObject(err('b'));
    expect(await reports('relayed http://h/q/x/1\\n')).toMatchObject({ state: 'done', forwardedTo: 'http://h/q/x/1' });
  });

  it('resend DUE-REASON sends it again at now + DUE, with the count one higher', async () => {
    expect(await run('again')).toMatchObject({ ...done('2'), attempt: 3, resends: 2 });
    const id = await bench.add('reports', { param1: 'resend 600-later-on\\n' });
    const job = await bench.until(id, ({ resends }) => resends === 1, 30_000);
    expect(job.runAt - Date.now()).toBeGreaterThan(500_000);
    await (await bench.longhaul()).cancel(id);
  });

  it('DUE is the number that the text before the first dash begins with', async () => {
    expect(await run('ever', {}, { maxResends: 1 })).toMatchObject({ state: 'failed', resends: 1 });
  });

  it('dup DUE-FLAG-DEST makes a copy with the params and files, count 0, and answers ok with its full id', async () => {
    const file = join(bench.home, 'note');
    writeFileSync(file, 'a file');
    const added = bench.run('add', 'copies', '{"param1":"copied"}', '--attach', file, '--json');
    const { id } = JSON.parse(added.output) as { id: string };
    await bench.until(id, ended, 30_000);
    const copy = /\nok http:\/\/butter:3334\/q\/copied\/(\S+)\n$/.exec(bench.log(id))?.[1] ?? '';
    expect(output(await bench.until(copy, ended, 30_000))).toBe(`0 copied ${host}q/copies/${id} a file\n`);
  });

  it("dup to a queue that is not there answers fail couldn't connect to queue", async () => {
    expect(await run('copies', { param1: 'nowhere' })).toMatchObject(done("fail couldn't connect to queue - nowhere"));
  });

  it('dup to an address that begins with http goes to the queue relay', async () => {
    const job = await run('copies', { param1: 'http://elsewhere:3333/q/x' });
    const copy =
      /^ok http:\/\/butter:3334\/q\/relay\/(\S+)$/.exec(String((job.result as { status?: unknown }).status))?.[1] ?? '';
    expect(await bench.find(copy)).toMatchObject({
      queue: 'relay',
      data: { to: 'http://elsewhere:3333/q/x', origin: `${host}q/copies/${job.id}` },
    });
  });
});

describe('exit', () => {
  it('an exit other than 0 without err is an err that names completion and status', async () => {
    expect(await reports('done a\\n', 1)).toMatchObject(improperly('done', 'exit 1'));
    expect(await reports('resend 0-a\\n', 1)).toMatchObject(improperly('resend', 'exit 1'));
    expect(await reports('', 2)).toMatchObject(improperly('', 'exit 2'));
    expect(await run('killed')).toMatchObject(improperly('', 'SIGTERM \\(signal 15\\)'));
  });

  it('err with an exit other than 0 is that err', async () => {
    expect(await reports('err a\\n', 3)).toMatchObject(err('a'));
  });

  it('exit 0 without a completion is an err with the last status', async () => {
    expect(await reports('run a\\nrun b\\n')).toMatchObject(err('b'));
    expect(await reports('')).toMatchObject({ state: 'failed', failure: { group: 'no completion' } });
  });

  it('a script that closes fd 3 and goes on is an err at its exit', async () => {
    expect(await run('closes')).toMatchObject(err('before'));
  });

  it('a resend at its max_count is an err', async () => {
    expect(await run('ever', {}, { maxResends: 2 })).toMatchObject({ state: 'failed', attempt: 3, resends: 2 });
  });
});
