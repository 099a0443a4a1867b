/**
 * Tells systemd how the node is: ready, stopping, alive. Node can write to no datagram socket, so systemd's own small
 * program does it; since that is another process, the unit needs `NotifyAccess=all`.
 *
 * Without NOTIFY_SOCKET nothing is done. What goes wrong is told once and stops nothing.
 */
import { execFile } from 'node:child_process';

export interface SystemdNotify {
  ready(): Promise<void>;
  stopping(): Promise<void>;
  /** No more signs of life. */
  close(): void;
}

interface NotifyOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  onTrouble(words: string): void;
}

const DEADLINE_MS = 10_000;
const NOTHING: SystemdNotify = {
  ready: () => Promise.resolve(),
  stopping: () => Promise.resolve(),
  close: () => undefined,
};

export function openSystemdNotify({ env, pid, onTrouble }: NotifyOptions): SystemdNotify {
  const socket = env['NOTIFY_SOCKET'];
  if (socket === undefined || socket === '') return NOTHING;
  let hasTold = false;
  const tell = (...words: string[]): Promise<void> =>
    say(socket, words).catch((error: Error) => {
      if (!hasTold)
        onTrouble(`systemd could not be told: ${error.message}; install systemd-notify, or use Type=simple`);
      hasTold = true;
    });
  const everyMs = watchdogMs(env, pid);
  let timer: NodeJS.Timeout | undefined;
  return {
    async ready() {
      await tell('READY=1', `MAINPID=${pid}`);
      if (everyMs !== null) timer = setInterval(() => void tell('WATCHDOG=1'), everyMs);
    },
    stopping: () => tell('STOPPING=1'),
    close: () => clearInterval(timer),
  };
}

function say(socket: string, words: readonly string[]): Promise<void> {
  const env = { PATH: process.env['PATH'], NOTIFY_SOCKET: socket };
  return new Promise((resolve, reject) => {
    execFile('systemd-notify', [...words], { env, timeout: DEADLINE_MS }, (error) =>
      error === null ? resolve() : reject(new Error(error.message, { cause: error })),
    );
  });
}

/** Half of what systemd waits; null when it waits for nobody, or for another process. */
function watchdogMs(env: NotifyOptions['env'], pid: number): number | null {
  const micro = Number(env['WATCHDOG_USEC'] ?? 0);
  const isOurs = env['WATCHDOG_PID'] === undefined || Number(env['WATCHDOG_PID']) === pid;
  return isOurs && Number.isFinite(micro) && micro > 0 ? Math.max(1, Math.floor(micro / 2_000)) : null;
}
