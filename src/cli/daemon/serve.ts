/**
 * `longhaul serve`: runs the queues of a data directory and serves HTTP until a signal stops it. Scripts outlive it.
 *
 *     checks ──▶ store ──▶ node (adopts running scripts) ──▶ HTTP ──▶ ready ──▶ stop signal
 *
 * The node neither listens nor claims before all settings are checked.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, otel } from '../../library/index.ts';
import { databaseAt } from '../../library/store-address.ts';
import { watchStore } from '../../node/doctor/store-watch.ts';
import type { NodeEvent } from '../../node/open-node.ts';
import { compileLess } from '../../runner/process/compile-less.ts';
import { tracedStore } from '../../telemetry/traced-store.ts';
import type { Args } from '../table/args.ts';
import type { Daemon } from './open-daemon.ts';
import { openDaemon } from './open-daemon.ts';
import { openOnFreePort } from './port-holder.ts';
import { checkHome, checkListen, checkNotices, prepareHome } from './serve-checks.ts';
import { errorMessage, logNews } from './serve-events.ts';

import type { Log } from './serve-log.ts';
import { createLog } from './serve-log.ts';
import type { ServeSettings } from './serve-settings.ts';
import { serveSettings } from './serve-settings.ts';
import { listenToSignals, type NodeSignals } from './serve-signals.ts';
import { startupLines, startupRecord } from './startup-lines.ts';
import { openSystemdNotify } from './systemd-notify.ts';

/** The longest time a shutdown takes, whatever is still open. */
const STOP_WITHIN_MS = 30_000;
/** How long open requests may take after the store has failed. */
const LAST_REQUESTS_MS = 2_000;

export async function serve(args: Args): Promise<number> {
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
  return serveHome(serveSettings(args, process.env, process.stdout.isTTY));
}

async function serveHome(settings: ServeSettings): Promise<number> {
  // Files that the node creates are readable only by its user.
  process.umask(0o077);
  compileLess();
  const log = openLog(settings);
  const found = await checkHome(settings);
  // The store is opened before anything is created: an unusable store leaves no new data directory behind.
  const telemetry = settings.hasTelemetry ? await otel().open() : null;
  const longhaul = await connect(settings.store);
  try {
    const store = telemetry === null ? longhaul.store : tracedStore(longhaul.store, telemetry);
    await prepareHome(settings, log);
    checkNotices(store, settings, log);
    await checkListen(store, settings);
    const signals = listenToSignals();
    const onEvent = (news: NodeEvent): void => handleEvent(news, log, signals);
    const daemon = await openOnFreePort(settings, found, (target) =>
      openDaemon({ ...settings, ...target, store, telemetry, storeFile: databaseAt(settings.store), log, onEvent }),
    );
    const watch = watchStore(store, (error) => signals.fail(error));
    return await runUntilStop(daemon, { settings, log, signals }).finally(() => watch.stop());
  } finally {
    await longhaul.close();
  }
}

/** Ignores write errors of the log: a full disk or a closed pipe must not stop the node. */
function openLog({ logFormat: format }: ServeSettings): Log {
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', () => undefined);
  return createLog({ format, isColoured: process.stdout.isTTY, write: (text) => void process.stdout.write(text) });
}

async function runUntilStop(
  daemon: Daemon,
  { settings, log, signals }: { settings: ServeSettings; log: Log; signals: NodeSignals },
): Promise<number> {
  logStartup(daemon, settings, log);
  // Only on a terminal: people who are not admins may read a log file.
  if (process.stdout.isTTY)
    log.info({ plain: true }, `log in as admin (single use, valid for one hour): ${await daemon.loginLink()}`);
  const systemd = openSystemdNotify({ env: process.env, pid: process.pid, onError: (message) => log.warn(message) });
  await systemd.ready();
  const reason = await signals.untilStop(() => reload(daemon, log));
  systemd.close();
  endInTime(log);
  if (reason.kind === 'failed') return endFailed(daemon, reason.error, log);
  log.info('stopping: running scripts continue, and the next serve adopts them');
  await systemd.stopping();
  await daemon.stop();
  return 0;
}

/** A safety net: a handle that keeps the process alive is a bug, so its kind is logged. */
function endInTime(log: Log): void {
  setTimeout(() => {
    log.error(
      `shutdown timed out after ${STOP_WITHIN_MS / 1_000} s; still open: ${process.getActiveResourcesInfo().join(', ')}`,
    );
    process.exit(1);
  }, STOP_WITHIN_MS).unref();
}

/** Logs one record for programs that read JSON, or lines with the next commands for people. */
function logStartup({ addresses, url, queues }: Daemon, { home, store, logFormat }: ServeSettings, log: Log): void {
  const node = { home, store, addresses, url, queues: queues() };
  if (logFormat === 'json') return log.info(startupRecord(node), `longhaul serves ${home.root}`);
  const shell = {
    program: process.argv[1] ?? '',
    path: process.env['PATH'] ?? '',
    jobId: `sample-${randomBytes(2).toString('hex')}`,
  };
  for (const line of startupLines(node, shell)) log.info({ plain: true }, line);
}

async function reload(daemon: Daemon, log: Log): Promise<void> {
  try {
    const lines = await daemon.reload();
    log.info(lines.length === 0 ? 'reloaded settings: no changes' : 'reloaded settings:');
    for (const line of lines) log.info(line);
  } catch (error) {
    log.error(`reload failed, settings unchanged: ${errorMessage(error)}`);
  }
}

function handleEvent(news: NodeEvent, log: Log, signals: NodeSignals): void {
  logNews(log, news);
  const error = news.type === 'trouble' ? news.error : news.type === 'worker' ? errorOf(news.event) : null;
  if (isStoreFailure(error)) signals.fail(error);
}

function errorOf(event: (NodeEvent & { type: 'worker' })['event']): unknown {
  return event.type === 'store-away' || event.type === 'trouble' ? event.error : null;
}

/** The disk under the store failed, so its later answers cannot be trusted. Nothing is retried on it. */
function isStoreFailure(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'store-closed';
}

async function endFailed(daemon: Daemon, error: unknown, log: Log): Promise<number> {
  log.fatal(`the node exits with code 1: ${errorMessage(error)}`);
  // On such a disk, removing the socket may fail and requests may never end.
  await Promise.race([daemon.shut().catch(() => undefined), sleep(LAST_REQUESTS_MS)]);
  // Skips the usual shutdown, which would write to the failed store.
  return process.exit(1);
}
