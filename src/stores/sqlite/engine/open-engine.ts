/** Assembles an engine: the session with the file, the group writer, and the notifications of other engines. */
import type { ClockSource } from '../../../core/lifecycle/clock.ts';
import { Ballast } from './ballast.ts';
import type { Durability } from './connection.ts';
import { Engine } from './engine.ts';
import { FileHealth } from './file-health.ts';
import { lockedError } from './file-holders.ts';
import { GroupWriter } from './group-writer.ts';
import { LockTimeout } from './lock-timeout.ts';
import { Session } from './session.ts';
import { explain, isBusy, isFull, readTwice } from './sqlite-problem.ts';
import { StoreClock } from './store-clock.ts';
import { WakeFile } from './wake-file.ts';

export interface EngineOptions {
  readonly path: string;
  readonly clock: ClockSource;
  readonly durability: Durability;
  readonly create?: boolean;
}

/** How often the engine checks for writes of other engines, in case a notification of the wake file is lost. */
const POLL_MS = 1_000;

export function openEngine({ clock, ...opening }: EngineOptions): Engine {
  const session = new Session({
    ...opening,
    clock: new StoreClock(clock),
    hasListeners: () => engine.hasListeners,
    onEvents: (events) => engine.hear(events),
    onFailed: (error) => health.failed(error),
  });
  const ballast = new Ballast(session.path, () => session.shrink());
  register(session, ballast);
  const health = new FileHealth({ path: session.path, probe: () => session.probe() });
  const readEvents = () => {
    engine.readOthers();
    engine.serveWaiting();
  };
  const wakeFile = new WakeFile(session.path, readEvents);
  const poll = setInterval(() => {
    readEvents();
    session.others.checkAlive();
  }, POLL_MS);
  const onClosed = (): void => {
    clearInterval(poll);
    health.close();
    wakeFile.close();
    unregister(session);
  };
  const wake = () => wakeFile.touch();
  const engine = new Engine({ session, writer: new GroupWriter(session, ballast, health), health, wake, onClosed });
  ballast.ensure();
  wake();
  return engine;
}

/** Registers this engine in the file. Where many processes write, it may have to wait for the lock. */
function register(session: Session, ballast: Ballast): void {
  const lockTimeout = new LockTimeout();
  try {
    while (!hasRegistered(session, ballast)) {
      const next = lockTimeout.onBusy(performance.now(), session.others.progress);
      if ('lockedMs' in next) throw lockedError(session.path, [], next.lockedMs);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, next.pauseMs);
    }
  } catch (error) {
    session.close();
    throw explain(error, session.path);
  }
}

function hasRegistered(session: Session, ballast: Ballast): boolean {
  try {
    registerEvenWhenFull(session, ballast);
    return true;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return false;
  }
}

function registerEvenWhenFull(session: Session, ballast: Ballast): void {
  try {
    readTwice(() => session.register());
  } catch (error) {
    if (!isFull(error)) throw error;
    ballast.release();
    session.register();
  }
}

function unregister(session: Session): void {
  try {
    session.unregister();
    session.emptyLog();
  } catch {
    // Another process holds the lock. It will find this engine's row without a process, and a later engine empties the log.
  } finally {
    session.close();
  }
}
