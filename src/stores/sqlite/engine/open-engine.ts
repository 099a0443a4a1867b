/** Puts an engine together: the session with the file, the writer of groups, and the ways to hear of others. */
import type { ClockSource } from '../../../core/lifecycle/clock.ts';
import { Ballast } from './ballast.ts';
import type { Durability } from './connection.ts';
import { Engine } from './engine.ts';
import { FileHealth } from './file-health.ts';
import { lockedError } from './file-holders.ts';
import { GroupWriter } from './group-writer.ts';
import { LockPatience } from './lock-timeout.ts';
import { Session } from './session.ts';
import { explain, isBusy, isFull } from './sqlite-problem.ts';
import { StoreClock } from './store-clock.ts';
import { WakeFile } from './wake-file.ts';

export interface EngineOptions {
  readonly path: string;
  readonly clock: ClockSource;
  readonly durability: Durability;
  readonly create?: boolean;
}

/** The net under the wake file: how often the file is asked whether somebody wrote. */
const POLL_MS = 1_000;

export function openEngine({ clock, ...opening }: EngineOptions): Engine {
  const session = new Session({
    ...opening,
    clock: new StoreClock(clock),
    isAnyoneListening: () => engine.isAnyoneListening,
    heard: (events) => engine.tell(events),
  });
  const ballast = new Ballast(session.path, () => session.shrink());
  enter(session, ballast);
  const health = new FileHealth({ path: session.path, probe: () => session.probe() });
  const listen = () => hear(session, health);
  const wakeFile = new WakeFile(session.path, listen);
  const poll = setInterval(() => {
    listen();
    session.others.checkAlive();
  }, POLL_MS);
  const closed = (): void => {
    clearInterval(poll);
    health.close();
    wakeFile.close();
    leave(session);
  };
  const wake = () => wakeFile.touch();
  const engine = new Engine({ session, writer: new GroupWriter(session, ballast, health), health, wake, closed });
  ballast.isThere();
  wake();
  return engine;
}

/** Where many processes write, whoever is new may have to wait for his turn as they do. */
function enter(session: Session, ballast: Ballast): void {
  const patience = new LockPatience();
  try {
    while (!hasEntered(session, ballast)) {
      const next = patience.refused(performance.now(), session.others.progress);
      if ('lockedMs' in next) throw lockedError(session.path, [], next.lockedMs);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, next.pauseMs);
    }
  } catch (error) {
    session.close();
    throw explain(error, session.path);
  }
}

function hasEntered(session: Session, ballast: Ballast): boolean {
  try {
    enterEvenWhenFull(session, ballast);
    return true;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return false;
  }
}

function enterEvenWhenFull(session: Session, ballast: Ballast): void {
  try {
    session.enter();
  } catch (error) {
    if (!isFull(error)) throw error;
    ballast.giveUp();
    session.enter();
  }
}

/** Another engine may have written: reading finds its events. */
function hear(session: Session, health: FileHealth): void {
  if (health.broken !== undefined) return;
  try {
    session.look(() => undefined);
  } catch (error) {
    health.failed(error);
  }
}

function leave(session: Session): void {
  try {
    session.leave();
    session.emptyLog();
  } catch {
    // Somebody holds the file: he will find our row without a process, and the log is put away by the next one.
  } finally {
    session.close();
  }
}
