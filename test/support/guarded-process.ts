/**
 * A child process that cannot outlive the test that started it, even if that test is killed.
 *
 * A few lines of sh supervise it: they start the program, write its pid to fd 3, and wait. When the other end of fd 3
 * closes, because the test process ended in any way, they kill the program and remove its directory.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { type Duplex, PassThrough, type Readable, type Writable } from 'node:stream';

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface GuardedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended, not when the signal is sent. */
  readonly ended: Promise<Ended>;
  readonly isAlive: boolean;
  signal(name: NodeJS.Signals): void;
}

export interface GuardOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Removed by the guard when the test process has ended. */
  readonly folder?: string;
}

// A reader that was stopped by the end of the program has not seen the test process end: only exit code 7 means that.
// The shell reports killed jobs, and a report to a closed stderr would end the shell.
const guard = `
folder=$1; shift
exec 4<&0
"$@" <&4 3>&- 4<&- & program=$!
exec 4<&- 2>/dev/null
{ read -r _ <&3; trap '' TERM; kill -9 "$program"; exit 7; } <&3 & reader=$!
echo "$program" >&3
wait "$program"; status=$?
kill "$reader" 2>/dev/null
wait "$reader"
if [ $? -eq 7 ] && [ -n "$folder" ]; then rm -rf "$folder"; fi
exit $status
`;

export async function spawnGuarded(
  command: string,
  args: readonly string[],
  options: GuardOptions = {},
): Promise<GuardedProcess> {
  const child = spawn('sh', ['-c', guard, 'guard', options.folder ?? '', command, ...args], {
    env: options.env ?? process.env,
    cwd: options.cwd,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    // A session of its own: Ctrl-C in the terminal must reach the guard only as the end of fd 3.
    detached: true,
  });
  const [stdout, stderr] = [keptOutput(child.stdout), keptOutput(child.stderr)];
  const ended = whenEnded(child);
  const pid = await readPid(child);
  let isAlive = true;
  void ended.then(() => (isAlive = false));
  return {
    pid,
    stdin: child.stdin as Writable,
    stdout,
    stderr,
    ended,
    get isAlive() {
      return isAlive;
    },
    signal: (name) => {
      if (isAlive) sendSignal(pid, name);
    },
  };
}

/**
 * Keeps the output for a reader that comes later. When a child has ended, Node discards what is not read, and the caller
 * gets the streams only after the pid: a program that ended before that would have no output, and no end of it.
 */
function keptOutput(stream: Readable | null): Readable {
  const kept = new PassThrough();
  return stream === null ? kept.end() : stream.pipe(kept);
}

async function whenEnded(child: ChildProcess): Promise<Ended> {
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status === null || status <= 128) return { code: status, signal: null };
  const name = Object.entries(constants.signals).find(([, number]) => number === status - 128)?.[0];
  return name ? { code: null, signal: name } : { code: status, signal: null };
}

async function readPid(child: ChildProcess): Promise<number> {
  const lifeline = child.stdio[3] as Duplex;
  // If the guard ends first, the last write meets a closed socket; that is expected.
  lifeline.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  const [chunk] = (await once(lifeline, 'data')) as [Buffer];
  return Number(chunk.toString());
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // The process ended a moment ago, and its exit event has not arrived yet.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
