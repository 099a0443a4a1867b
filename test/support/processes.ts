/**
 * Real processes for tests: programs of test/fixtures/ that exchange lines of JSON on stdout and stdin. All of them are
 * stopped at the end of the test file, whatever happened.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Ended, type GuardedProcess, spawnGuarded } from './guarded-process.ts';

export type Message = Readonly<Record<string, unknown>>;

export interface Fixture {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Every message so far, including those that `next` has taken. */
  readonly messages: readonly Message[];
  /**
   * Takes the first message that matches, received already or in the future. Rejects when the program ends or time is
   * up.
   */
  next(fits: (message: Message) => boolean, timeoutMs?: number): Promise<Message>;
  /** Writes a line of JSON to the program's stdin. */
  send(message: unknown): void;
  /** SIGTERM; resolves when the program has ended. */
  terminate(): Promise<Ended>;
  /** SIGKILL; resolves when the program has ended. */
  kill9(): Promise<Ended>;
  /** SIGSTOP: suspends the program until `cont`. */
  stop(): void;
  cont(): void;
}

interface Waiter {
  readonly fits: (message: Message) => boolean;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

const fixtures = join(import.meta.dirname, '..', 'fixtures');
/** Where some of them are bundled into one file each, which starts faster. */
const bundled = process.env['LONGHAUL_FIXTURES'];
/** For hangs: on a busy machine a process alone takes seconds to start. */
const defaultTimeoutMs = 30_000;
const stderrKept = 4_000;
const running = new Set<GuardedProcess>();

/** Called at the end of every test file: this module may have been loaded by an earlier file of the same process. */
export async function endFixtures(): Promise<void> {
  for (const child of running) child.signal('SIGKILL');
  await Promise.all([...running].map((child) => child.ended));
}

export interface FixtureOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node itself. */
  readonly execArgv?: readonly string[];
}

export async function startFixture(
  file: string,
  args: readonly string[] = [],
  { env = {}, execArgv = [] }: FixtureOptions = {},
): Promise<Fixture> {
  const child = await spawnGuarded(process.execPath, [...execArgv, pathOfFixture(file), ...args], {
    env: { ...process.env, ...env },
  });
  running.add(child);
  void child.ended.then(() => running.delete(child));
  const inbox = openInbox(child, file);
  const end = (signal: NodeJS.Signals) => {
    child.signal(signal);
    return child.ended;
  };
  return {
    pid: child.pid,
    ended: child.ended,
    messages: inbox.messages,
    next: inbox.next,
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    terminate: () => end('SIGTERM'),
    kill9: () => end('SIGKILL'),
    stop: () => child.signal('SIGSTOP'),
    cont: () => child.signal('SIGCONT'),
  };
}

export function pathOfFixture(file: string): string {
  const quick = join(bundled ?? fixtures, file);
  return existsSync(quick) ? quick : join(fixtures, file);
}

function openInbox(child: GuardedProcess, file: string): Pick<Fixture, 'messages' | 'next'> {
  const messages: Message[] = [];
  const waiters = new Set<Waiter>();
  let untaken: Message[] = [];
  let complaints = '';
  let isClosed = false;

  const problem = (what: string) =>
    new Error(
      `${file} ${what}. It sent ${JSON.stringify(untaken.slice(-5))}, and on stderr: ${complaints || 'nothing'}`,
    );

  const receive = (line: string) => {
    const message = parseLine(line);
    messages.push(message);
    const waiter = [...waiters].find(({ fits }) => fits(message));
    if (!waiter) return void untaken.push(message);
    // Remove it at once: the next line of the same chunk must not go to a waiter that has its message.
    waiters.delete(waiter);
    waiter.resolve(message);
  };

  const lines = createInterface({ input: child.stdout });
  lines.on('line', receive);
  // The last lines arrive after the process has ended: only the end of its output is the end.
  lines.on('close', () => {
    isClosed = true;
    for (const waiter of waiters) waiter.reject(problem('ended before it sent the expected message'));
  });
  child.stderr.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-stderrKept)));

  const take = (fits: Waiter['fits']): Message | undefined => {
    const message = untaken.find(fits);
    untaken = untaken.filter((each) => each !== message);
    return message;
  };

  const next = async (fits: Waiter['fits'], timeoutMs = defaultTimeoutMs): Promise<Message> => {
    const known = take(fits);
    if (known) return known;
    if (isClosed) throw problem('ended before it sent the expected message');
    const { promise, ...settle } = withResolvers<Message>();
    const waiter = { fits, ...settle };
    const timer = setTimeout(
      () => waiter.reject(problem(`did not send the expected message in ${timeoutMs} ms`)),
      timeoutMs,
    );
    waiters.add(waiter);
    return await promise.finally(() => {
      clearTimeout(timer);
      waiters.delete(waiter);
    });
  };

  return { messages, next };
}

/** A line that is not a JSON object is kept as text, so that a stray print shows in the error of `next`. */
function parseLine(line: string): Message {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Message) : { text: line };
  } catch {
    return { text: line };
  }
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
