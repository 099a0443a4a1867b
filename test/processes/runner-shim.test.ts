/** The state in which a script starts, and what the shim records of its end. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { filesOf, parseExit, readExit, readPid } from '../../src/runner/attempt/attempt-files.ts';
import { writeDeadline } from '../../src/runner/attempt/deadline.ts';
import { openRunner } from '../../src/runner/open-runner.ts';
import { isAlive } from '../../src/runner/process-tree/process-stat.ts';
import { takeSurvey } from '../../src/runner/process-tree/process-survey.ts';
import {
  aFolder,
  aHome,
  aRunner,
  aScript,
  aShim,
  aShimText,
  eventually,
  hasProgram,
  logOf,
  markedWith,
  started,
} from './runner-workbench.ts';

const isRoot = process.getuid?.() === 0;
const shim = join(import.meta.dirname, '..', '..', 'src', 'runner', 'process', 'shim.sh');

describe('a script starts with', () => {
  it('descriptors 0 to 4 and no others, whatever the parent has open', async () => {
    const home = aHome();
    // Like a careless parent: a descriptor without close-on-exec.
    openSync('/dev/null', 'r');
    const attempt = await started(aRunner(), home, { text: 'ls /proc/$$/fd' });
    await attempt.end;
    // bash keeps the script it reads at 255.
    expect(logOf(attempt)).toBe('0\n1\n2\n255\n3\n4\n');
  });

  it('no descriptor that its parent inherited', async () => {
    const home = aHome();
    const script = aScript(home, 'ls /proc/$$/fd');
    const folder = aFolder(home);
    const program = `
      import { openRunner } from ${JSON.stringify(join(import.meta.dirname, '..', '..', 'dist/runner/open-runner.js'))};
      const runner = openRunner();
      const { attempt } = await runner.start({ folder: ${JSON.stringify(folder)}, cwd: '/', argv: [${JSON.stringify(script)}], env: {}, stdin: null });
      await attempt.end;
      await runner.stop();`;
    const holder = spawn('bash', [
      '-c',
      'exec 251>/dev/null "$0" --input-type=module -e "$1"',
      process.execPath,
      program,
    ]);
    await once(holder, 'close');
    expect(logOf({ folder })).toBe('0\n1\n2\n255\n3\n4\n');
  });

  it('a session of its own, default signal handling, and the requested nice level and umask', async () => {
    const attempt = await started(aRunner(), aHome(), {
      text: 'read -r pid name state parent group session rest < /proc/$$/stat; [ $$ = $group ] && [ $$ = $session ] && echo leader; grep SigIgn /proc/self/status; nice; umask',
      request: { nice: 7, umask: 0o27 },
    });
    await attempt.end;
    expect(logOf(attempt).replaceAll('\t', ' ')).toBe('leader\nSigIgn: 0000000000000000\n7\n0027\n');
  });

  it('exactly its environment, byte for byte, and the mark', async () => {
    const env = {
      A: '; id',
      B: '$(id)`id`',
      C: 'new\nline',
      D: '-rf',
      E: 'ä',
      F: "it's '' \\",
      IFS: ':',
      OPTIND: 'x',
      UID: '7',
      folder: 'f',
      lh_folder: 'x',
      status: 'y',
    };
    const attempt = await started(aRunner(), aHome(), {
      text: '',
      request: { env, argv: ['/bin/cat', '/proc/self/environ'] },
    });
    await attempt.end;
    const found = Object.fromEntries(
      logOf(attempt)
        .split('\0')
        .filter(Boolean)
        .map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
    );
    // A shell adds PWD; nothing else.
    expect(found).toEqual({
      ...env,
      PATH: process.env['PATH'],
      PWD: join(attempt.folder, 'work'),
      LONGHAUL_ATTEMPT_MARK: attempt.folder,
    });
  });

  it('fd 3 and fd 4, also by name', async () => {
    const home = aHome();
    const attempt = await started(aRunner(), home, {
      text: 'echo "dup 0-X-a" >&3; read -r a <&4; echo "dup 0-X-b" > /dev/fd/3; read -r b < /dev/fd/4; echo "$a $b"',
      listener: {
        onReports: ({ heard }) => {
          for (const { verb } of heard) if (verb.kind === 'dup') attempt.answer(`ok ${verb.dest}\nnever`);
        },
      },
    });
    await attempt.end;
    expect(logOf(attempt)).toBe('ok a never ok b never\n');
  });

  it.runIf(isRoot)('another user, which can still open /dev/fd/3 by name', async () => {
    const attempt = await started(aRunner(), aHome(), {
      text: '',
      request: {
        cwd: '/',
        user: { uid: 65_534, gid: 65_533 },
        argv: ['/bin/sh', '-c', 'id -u; id -g; id -G; echo "done as another" > /dev/fd/3'],
      },
    });
    const end = await attempt.end;
    expect(logOf(attempt)).toBe('65534\n65533\n65533\n');
    expect(end.said.completion).toMatchObject({ kind: 'done' });
  });

  it('files that only their owner may read', async () => {
    const attempt = await started(aRunner(), aHome(), { text: 'echo a; echo run b >&3', request: { umask: 0 } });
    await attempt.end;
    const files = filesOf(attempt.folder);
    const modes = [files.log, files.reports, files.pid, files.exit].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
  });
});

describe('how an attempt ends', () => {
  it.each([
    ['exit 0', { status: 0, signal: null }],
    ['exit 7', { status: 7, signal: null }],
    ['kill -TERM $$', { status: 143, signal: 'SIGTERM' }],
    ['kill -SEGV $$', { status: 139, signal: 'SIGSEGV' }],
    ['kill -INT $$', { status: 130, signal: 'SIGINT' }],
    ['kill -HUP $$', { status: 129, signal: 'SIGHUP' }],
    ['kill -TERM 0', { status: 143, signal: 'SIGTERM' }],
  ])('%s', async (text, exit) => {
    const attempt = await started(aRunner(), aHome(), { text });
    expect((await attempt.end).exit).toMatchObject({ ...exit, areReportsComplete: true });
  });

  it('with status 127 for a missing script, and 126 for one that cannot be executed', async () => {
    const home = aHome();
    const runner = aRunner();
    const missing = await started(runner, home, { text: 'x', request: { argv: ['/nowhere/script'] } });
    expect((await missing.end).exit?.status).toBe(127);
    expect(logOf(missing)).toContain('/nowhere/script');
    const plain = join(home, 'plain');
    writeFileSync(plain, 'text');
    const refused = await started(runner, home, { text: 'x', request: { argv: [plain] } });
    expect((await refused.end).exit?.status).toBe(126);
  });

  it('with an error when its stdin does not exist', async () => {
    const attempt = await started(aRunner(), aHome(), { text: 'echo never', request: { stdin: '/nowhere/data.json' } });
    expect((await attempt.end).exit?.status).not.toBe(0);
    expect(logOf(attempt)).toContain('/nowhere/data.json');
  });

  it('at the exit of the script, although a background process holds everything open', async () => {
    const attempt = await started(aRunner(), aHome(), {
      text: 'sleep 60 & printf "do" >&3; printf "ne in parts" >&3; printf " whole\n" >&3',
    });
    const end = await attempt.end;
    expect(end.said.completion).toMatchObject({ kind: 'done', text: 'in parts whole' });
    expect(end.exit).toMatchObject({ status: 0, areReportsComplete: true });
    expect(end.endedAt - end.startedAt).toBeLessThan(5_000);
    expect(await attempt.terminate({ graceMs: 1_000 })).toMatchObject({ left: 0 });
  });

  it('with complete reports, 200 times, of scripts that write them in parts right before they exit', async () => {
    const home = aHome();
    const runner = aRunner();
    const text =
      'sleep 3 >/dev/null & for i in 1 2 3; do printf "run" >&3; printf " $i\n" >&3; done; printf "do" >&3; printf "ne ok\n" >&3';
    const run = async () => (await (await started(runner, home, { text })).end).said;
    for (let round = 0; round < 20; round += 1) {
      const all = await Promise.all(Array.from({ length: 10 }, run));
      expect(all.filter(({ completion, status }) => completion?.kind !== 'done' || status !== 'ok')).toEqual([]);
    }
  });

  it('soon, although a background process never stops reporting', async () => {
    const attempt = await started(aRunner(), aHome(), { text: 'echo done first >&3; yes "run noise" >&3 & sleep 0.3' });
    const end = await attempt.end;
    expect(end.exit?.status).toBe(0);
    expect(end.said.completion).toMatchObject({ kind: 'done' });
    await attempt.terminate({ graceMs: 1_000 });
  });
});

describe('the shim itself', () => {
  it('runs one attempt and exits with it, whatever the script left behind', async () => {
    const attempt = await started(aRunner(), aHome(), { text: 'sleep 60 & echo done soon >&3' });
    const pids = await eventually(
      () => attempt.pids,
      (seen) => Boolean(seen?.script),
    );
    expect((await attempt.end).exit).toMatchObject({ status: 0, areReportsComplete: true });
    await eventually(
      async () => (await takeSurvey()).all.filter(({ session }) => session === pids!.shim.pid),
      (left) => left.length === 0,
    );
    expect(readdirSync(attempt.folder).sort()).toEqual(['exit', 'log', 'pid', 'said', 'work']);
    expect(pids).toHaveProperty('reportPipe');
    expect(await attempt.terminate({ graceMs: 0 })).toMatchObject({ left: 0 });
  });

  it('continues without its runner until the attempt ends', async () => {
    const home = aHome();
    const runner = openRunner();
    const folder = aFolder(home);
    const go = join(home, 'go');
    const script = aScript(home, `while [ ! -e ${go} ] && [ $SECONDS -lt 60 ]; do sleep 0.05; done; echo went on`);
    const request = { folder, cwd: home, argv: [script], env: { PATH: '/usr/bin:/bin' }, stdin: null };
    const answer = await runner.start(request);
    if (!answer.ok) throw new Error(answer.message);
    const pids = await eventually(
      () => readPid(folder),
      (seen) => Boolean(seen?.script),
    );
    await runner.stop();
    expect(isAlive(pids!.shim)).toBe(true);
    writeFileSync(go, '');
    await eventually(
      () => isAlive(pids!.shim),
      (alive) => !alive,
    );
    expect(logOf({ folder })).toBe('went on\n');
    expect(parseExit(readFileSync(filesOf(folder).exit, 'utf8'))).toMatchObject({ status: 0 });
  });

  it.each(['dash', 'bash', 'busybox'].filter(hasProgram))('works the same in %s', async (shell) => {
    const home = aHome();
    const folder = aFolder(home);
    const program = aScript(home, `#!/bin/sh\nexec ${shell} ${shell === 'busybox' ? 'sh ' : ''}"$@"\n`);
    const script = aScript(
      home,
      'echo run a >&3; echo b > /dev/fd/3; grep SigIgn /proc/self/status; sleep 30 & echo done c >&3; kill -INT $$',
    );
    await once(aShim(folder, script, { shell: program }), 'exit');
    expect(readFileSync(filesOf(folder).reports, 'utf8')).toBe('run a\nb\ndone c\n');
    expect(readExit(folder)).toMatchObject({ signal: 'SIGINT', areReportsComplete: true });
    expect(logOf({ folder }).replaceAll('\t', ' ')).toBe('SigIgn: 0000000000000000\n');
  });

  it('works the same in a shell that implements here-documents as files', async () => {
    const home = aHome();
    const folder = aFolder(home);
    const text = readFileSync(shim, 'utf8').replace('exec 3<<. 4<<.\n.\n.\n', 'exec 3</dev/null 4</dev/null\n');
    expect(text).not.toContain('<<.');
    writeFileSync(join(home, 'shim.sh'), text);
    const script = aScript(home, 'echo run a >&3; echo b > /dev/fd/3; sleep 30 & echo done c >&3; ls -l /proc/$$/fd');
    await once(aShim(folder, script, { home }), 'exit');
    expect(readFileSync(filesOf(folder).reports, 'utf8')).toBe('run a\nb\ndone c\n');
    expect(readExit(folder)).toMatchObject({ status: 0, areReportsComplete: true });
    expect(logOf({ folder })).toContain(`${folder}/3 (deleted)`);
    expect(readPid(folder)).not.toHaveProperty('reportPipe');
    expect(readdirSync(folder).sort()).toEqual(['exit', 'log', 'pid', 'said', 'work']);
  });

  it.runIf(canUnshare('-m'))('writes the exit status although the disk is full', async () => {
    const home = aHome();
    const folder = join(home, 'disk', 'attempt');
    const script = aScript(
      home,
      `cat /dev/zero > ${folder}/fill; stat -f -c 'free %a' ${folder} > ${home}/free; exit 7`,
    );
    const input = join(home, 'input');
    writeFileSync(input, aShimText(folder, script));
    const run =
      'mount -t tmpfs -o size=256k tmpfs "$1" && mkdir "$1/attempt" && timeout -s KILL 5 sh -s <"$2"; cat "$1/attempt/exit"';
    mkdirSync(join(home, 'disk'));
    const exit = execFileSync('unshare', ['-m', 'sh', '-c', run, 'sh', join(home, 'disk'), input], {
      encoding: 'utf8',
    });
    expect(readFileSync(join(home, 'free'), 'utf8')).toBe('free 0\n');
    expect(parseExit(exit)).toMatchObject({ status: 7, areReportsComplete: true });
  });

  it.runIf(canUnshare('-pf'))('kills no process that got the pid of its cat', async () => {
    const home = aHome();
    const folder = aFolder(home);
    // In a pid namespace of its own the next pid can be chosen, and no other process gets it first.
    const text = `read -r line < /proc/$$/stat; set -- \${line##*) }; shim=$2
read -r cat rest < /proc/$shim/task/$shim/children
kill -9 $cat; while [ -e /proc/$cat ]; do :; done
echo $((cat - 1)) > /proc/sys/kernel/ns_last_pid
(exec sleep 60) & echo "$cat $!" > ${home}/numbers; disown`;
    const input = join(home, 'input');
    writeFileSync(input, aShimText(folder, aScript(home, text)));
    const run = 'for i in 1 2 3 4 5 6 7 8 9; do ( : ); done; sh -s <"$1"; kill -0 $(cut -d" " -f2 "$2") && echo lives';
    const args = ['-pf', '--mount-proc', 'sh', '-c', run, 'sh', input, join(home, 'numbers')];
    const printed = execFileSync('unshare', args, { encoding: 'utf8' });
    const [cat, other] = readFileSync(join(home, 'numbers'), 'utf8').trim().split(' ');
    expect(other).toBe(cat);
    expect(printed).toBe('lives\n');
    expect(readExit(folder)).toMatchObject({ status: 0, areReportsComplete: true });
  });

  it('waits until the disk has room for the exit status', async () => {
    const home = aHome();
    const folder = aFolder(home);
    // /dev/full replaces the file: opening it succeeds, and every write fails with ENOSPC.
    execFileSync('ln', ['-s', '/dev/full', filesOf(folder).exit]);
    const child = aShim(folder, '/bin/true');
    onTestFinished(() => void child.kill('SIGKILL'));
    await eventually(() => isWaiting(child.pid ?? 0), Boolean);
    execFileSync('rm', [filesOf(folder).exit]);
    await once(child, 'exit');
    expect(parseExit(readFileSync(filesOf(folder).exit, 'utf8'))).toMatchObject({ status: 0 });
  });

  it('ignores signals that are meant for others', async () => {
    const other = await started(aRunner(), aHome(), {
      text: 'while [ ! -e go ] && [ $SECONDS -lt 120 ]; do sleep 0.05; done; echo went on',
    });
    const pids = await eventually(
      () => other.pids,
      (seen) => Boolean(seen?.script),
    );
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGQUIT'] as const) process.kill(pids!.shim.pid, signal);
    writeFileSync(join(other.folder, 'work', 'go'), '');
    expect((await other.end).exit?.status).toBe(0);
    expect(logOf(other)).toBe('went on\n');
  });
});

describe('a deadline', () => {
  it('that passes ends the session and processes that left it, and no others', async () => {
    const home = aHome();
    const runner = aRunner();
    const folder = aFolder(home);
    writeDeadline(folder, 1_000);
    const script = aScript(home, 'setsid sleep 120 & trap "" TERM; while [ $SECONDS -lt 120 ]; do sleep 0.1; done');
    const answer = await runner.start({
      folder,
      cwd: home,
      argv: [script],
      env: { PATH: process.env['PATH'] ?? '' },
      stdin: null,
    });
    if (!answer.ok) throw new Error(answer.message);
    const end = await answer.attempt.end;
    expect(end).toMatchObject({ isOverdue: true, exit: { signal: 'SIGKILL' } });
    await eventually(
      () => markedWith(folder),
      (left) => left.length === 0,
    );
  });

  it('that passes also ends processes that ignore TERM, although the script ended at once', async () => {
    const home = aHome();
    const folder = aFolder(home);
    writeDeadline(folder, 1_000);
    const script = aScript(home, `setsid sh -c 'trap "" TERM; sleep 120' & sleep 120`);
    const child = aShim(folder, script);
    await once(child, 'exit');
    expect(readExit(folder)).toMatchObject({ signal: 'SIGTERM' });
    expect(markedWith(folder).length).toBeGreaterThan(0);
    await eventually(
      () => markedWith(folder),
      (left) => left.length === 0,
      15_000,
    );
  });

  it('that is renewed never passes, and leaves no process behind', async () => {
    const home = aHome();
    const runner = aRunner();
    const folder = aFolder(home);
    writeDeadline(folder, 1_500);
    const script = aScript(home, 'for i in 1 2 3 4 5 6 7 8; do echo run $i >&3; sleep 0.4; done');
    const answer = await runner.start(
      { folder, cwd: home, argv: [script], env: { PATH: process.env['PATH'] ?? '' }, stdin: null },
      { listener: { onReports: () => writeDeadline(folder, 2_500) } },
    );
    if (!answer.ok) throw new Error(answer.message);
    expect(await answer.attempt.end).toMatchObject({ isOverdue: false, exit: { status: 0 } });
    await eventually(
      () => markedWith(folder),
      (left) => left.length === 0,
    );
  });
});

/** Whether a pid or mount namespace can be created. */
function canUnshare(kind: '-m' | '-pf'): boolean {
  return isRoot && spawnSync('unshare', [kind, 'true']).status === 0;
}

/** Whether a process has a child that sleeps. */
function isWaiting(pid: number): boolean {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children.some((child) => {
    try {
      return readFileSync(`/proc/${child}/comm`, 'utf8') === 'sleep\n';
    } catch {
      return false;
    }
  });
}
