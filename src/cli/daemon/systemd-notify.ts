/**
 * Notifies systemd that the node is ready, stopping or alive. Node.js cannot write to a unix datagram socket, so the
 * program `systemd-notify` does it. It is another process, so the unit needs `NotifyAccess=all`.
 *
 * Does nothing without NOTIFY_SOCKET. An error is reported once and stops nothing.
 */
import { execFile } from 'node:child_process';

export interface SystemdNotify {
  ready(): Promise<void>;
  stopping(): Promise<void>;
  /** Stops the watchdog notifications. */
  close(): void;
}

interface NotifyOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  onError(message: string): void;
}

const DEADLINE_MS = 10_000;
const NO_SYSTEMD: SystemdNotify = {
  ready: () => Promise.resolve(),
  stopping: () => Promise.resolve(),
  close: () => undefined,
};

export function openSystemdNotify({ env, pid, onError }: NotifyOptions): SystemdNotify {
  const socket = env['NOTIFY_SOCKET'];
  if (socket === undefined || socket === '') return NO_SYSTEMD;
  let hasReported = false;
  const notify = (...states: string[]): Promise<void> =>
    runSystemdNotify(socket, states).catch((error: Error) => {
      if (!hasReported) onError(`cannot notify systemd: ${error.message}; install systemd-notify, or use Type=simple`);
      hasReported = true;
    });
  const everyMs = watchdogMs(env, pid);
  let timer: NodeJS.Timeout | undefined;
  return {
    async ready() {
      await notify('READY=1', `MAINPID=${pid}`);
      if (everyMs !== null) timer = setInterval(() => void notify('WATCHDOG=1'), everyMs);
    },
    stopping: () => notify('STOPPING=1'),
    close: () => clearInterval(timer),
  };
}

function runSystemdNotify(socket: string, states: readonly string[]): Promise<void> {
  const env = { PATH: process.env['PATH'], NOTIFY_SOCKET: socket };
  return new Promise((resolve, reject) => {
    execFile('systemd-notify', [...states], { env, timeout: DEADLINE_MS }, (error) =>
      error === null ? resolve() : reject(new Error(error.message, { cause: error })),
    );
  });
}

/** Returns half of the watchdog interval of systemd; null without a watchdog, or if it watches another process. */
function watchdogMs(env: NotifyOptions['env'], pid: number): number | null {
  const micro = Number(env['WATCHDOG_USEC'] ?? 0);
  const isOurs = env['WATCHDOG_PID'] === undefined || Number(env['WATCHDOG_PID']) === pid;
  return isOurs && Number.isFinite(micro) && micro > 0 ? Math.max(1, Math.floor(micro / 2_000)) : null;
}
