/**
 * `longhaul serve`: works the queues of a home folder and answers HTTP until it is told to stop. Scripts outlive it.
 *
 *     what could be wrong is looked at ──▶ store ──▶ node (takes up what runs) ──▶ HTTP ──▶ ready ──▶ told to stop
 *
 * Nothing listens and nothing is claimed before every setting was found right.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../library/index.ts';
import { databaseAt } from '../../library/store-address.ts';
import { watchStore } from '../../node/doctor/store-watch.ts';
import type { NodeNews } from '../../node/open-node.ts';
import { compileLess } from '../../runner/process/compile-less.ts';
import type { Call } from '../table/call.ts';
import type { Daemon } from './open-daemon.ts';
import { openDaemon } from './open-daemon.ts';
import { openWhereFree } from './port-holder.ts';
import { checkListen, checkNotices, checkPlaces, prepareHome } from './serve-checks.ts';
import { inWords, logNews } from './serve-events.ts';
import { startLines } from './serve-lines.ts';
import type { Log } from './serve-log.ts';
import { createLog } from './serve-log.ts';
import type { ServeSettings } from './serve-settings.ts';
import { serveSettings } from './serve-settings.ts';
import { listenToSignals, type Told } from './serve-signals.ts';
import { openSystemdNotify } from './systemd-notify.ts';

/** A node that was asked to stop ends after this time at the latest, whatever is still open. */
const STOP_WITHIN_MS = 30_000;
/** How long requests under way get when the store is lost. */
const LAST_ANSWERS_MS = 2_000;

export async function serve(call: Call): Promise<number> {
  if (call.positionals.length > 0) throw call.wrong('too many words');
  return serveHome(serveSettings(call, process.env, process.stdout.isTTY));
}

async function serveHome(settings: ServeSettings): Promise<number> {
  // Whatever is made from here on is nobody else's to read.
  process.umask(0o077);
  compileLess();
  const log = openLog(settings);
  const reachable = await checkPlaces(settings);
  // Before anything else is created: a store that cannot be used leaves no trace of a node.
  const longhaul = await connect(settings.store);
  try {
    const { store } = longhaul;
    await prepareHome(settings, log);
    checkNotices(store, settings, log);
    await checkListen(store, settings);
    const told = listenToSignals();
    const onNews = (news: NodeNews): void => heard(news, log, told);
    const daemon = await openWhereFree(settings, reachable, (where) =>
      openDaemon({ ...settings, ...where, store, storeFile: databaseAt(settings.store), log, onNews }),
    );
    const watch = watchStore(store, (error) => told.fail(error));
    return await runUntilTold(daemon, { settings, log, told }).finally(() => watch.stop());
  } finally {
    await longhaul.close();
  }
}

/** A log that cannot be written must not stop the node: the disk may be full, or the reader gone. */
function openLog({ logFormat: format }: ServeSettings): Log {
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', () => undefined);
  return createLog({ format, isColoured: process.stdout.isTTY, write: (text) => void process.stdout.write(text) });
}

async function runUntilTold(
  daemon: Daemon,
  { settings, log, told }: { settings: ServeSettings; log: Log; told: Told },
): Promise<number> {
  for (const line of linesOf(daemon, settings)) log.info({ plain: true }, line);
  // On a terminal alone: a log file is read by more people than may be admin.
  if (process.stdout.isTTY) log.info({ plain: true }, `as admin, once, within the hour: ${await daemon.loginLink()}`);
  const systemd = openSystemdNotify({ env: process.env, pid: process.pid, onTrouble: (words) => log.warn(words) });
  await systemd.ready();
  const reason = await told.untilStop(() => reload(daemon, log));
  systemd.close();
  endInTime(log);
  if (reason.kind === 'failed') return endFailed(daemon, reason.error, log);
  log.info('stopping: running scripts go on and are taken up by the next serve');
  await systemd.stopping();
  await daemon.stop();
  return 0;
}

/** A net, and no way to stop: what is left open is a bug, and its kind is logged. */
function endInTime(log: Log): void {
  setTimeout(() => {
    log.error(`still open ${STOP_WITHIN_MS / 1_000} s after the stop: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, STOP_WITHIN_MS).unref();
}

function linesOf({ addresses, url, queues }: Daemon, { home, store }: ServeSettings): readonly string[] {
  const typing = {
    program: process.argv[1] ?? '',
    path: process.env['PATH'] ?? '',
    jobId: `sample-${randomBytes(2).toString('hex')}`,
  };
  return startLines({ home, store, addresses, url, queues: queues() }, typing);
}

async function reload(daemon: Daemon, log: Log): Promise<void> {
  try {
    const lines = await daemon.reload();
    log.info(lines.length === 0 ? 'looked at the settings again: nothing changed' : 'looked at the settings again:');
    for (const line of lines) log.info(line);
  } catch (error) {
    log.error(`the settings stay as they were: ${inWords(error)}`);
  }
}

function heard(news: NodeNews, log: Log, told: Told): void {
  logNews(log, news);
  const error = news.type === 'trouble' ? news.error : news.type === 'worker' ? errorOf(news.event) : null;
  if (isBroken(error)) told.fail(error);
}

function errorOf(event: (NodeNews & { type: 'worker' })['event']): unknown {
  return event.type === 'store-away' || event.type === 'trouble' ? event.error : null;
}

/** The disk under the store failed: whatever it says from now on cannot be trusted. Nothing is tried again on it. */
function isBroken(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'store-closed';
}

async function endFailed(daemon: Daemon, error: unknown, log: Log): Promise<number> {
  log.fatal(`the node exits with code 1: ${inWords(error)}`);
  // On such a disk sockets may not be removable, and requests may never end.
  await Promise.race([daemon.shut().catch(() => undefined), sleep(LAST_ANSWERS_MS)]);
  // Not the usual way out, which would write to that store.
  return process.exit(1);
}
