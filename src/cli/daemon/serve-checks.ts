/**
 * Checks before a node starts: data directory, port, store, listen addresses. Each throws an error for the user, and all
 * run before the node listens.
 */
import type { Store } from '../../core/ports/store.ts';
import { unsafePaths } from '../../node/doctor/home-safety.ts';
import { makeHome } from '../../node/make-home.ts';
import { refuseRunningNode } from '../../node/node-lock.ts';
import { TOKEN_RECORD } from '../../server/auth/tokens.ts';
import { UsageError } from '../table/command.ts';
import type { ListenTarget } from './port-holder.ts';
import { findListenTarget } from './port-holder.ts';
import type { Log } from './serve-log.ts';
import type { ServeSettings } from './serve-settings.ts';
import { isLoopback } from './serve-settings.ts';

/** Refuses a data directory that other users can write or that a node uses; returns where to listen. Creates nothing. */
export async function checkHome({ home, listen, port }: ServeSettings): Promise<ListenTarget> {
  refuseWritablePaths(unsafePaths(home, process.getuid?.() ?? 0));
  refuseRunningNode(home.lock);
  return findListenTarget(listen, port);
}

/** Creates the data directory if it does not exist. */
export async function prepareHome({ home, logFormat }: ServeSettings, log: Log): Promise<void> {
  if (await makeHome(home))
    log.info(
      logFormat === 'json' ? {} : { plain: true },
      `created data directory ${home.root} with a sample queue: sample`,
    );
  for (const { path, problem, cure } of unsafePaths(home, process.getuid?.() ?? 0))
    log.warn({ path }, `${path} ${problem}; ${cure}`);
}

function refuseWritablePaths(paths: ReturnType<typeof unsafePaths>): void {
  const writable = paths.filter(({ isWritableByOthers }) => isWritableByOthers);
  if (writable.length === 0) return;
  throw new UsageError(writable.map(({ path, problem, cure }) => `${path} ${problem}; ${cure}`).join('\n'));
}

/** Logs settings of the store that weaken its durability; with --strict, refuses the store. */
export function checkNotices(store: Store, { isStrict }: ServeSettings, log: Log): void {
  const notices = storeMessages(store, 'notices');
  if (isStrict && notices.length > 0) throw new UsageError(`--strict refuses this store: ${notices.join('; ')}`);
  for (const notice of notices) log.warn(notice);
}

/** Returns the messages of a store about its server; none for a store without a server. */
export function storeMessages(store: Store, kind: 'notices' | 'facts'): readonly string[] {
  const messages = (store as Store & Readonly<Record<string, unknown>>)[kind];
  return Array.isArray(messages) ? (messages as readonly string[]) : [];
}

/** A client that reaches the port can run jobs, so a non-loopback address requires a token. */
export async function checkListen(store: Store, { listen, listenOption, home }: ServeSettings): Promise<void> {
  const exposed = listen.filter((address) => !isLoopback(address));
  if (exposed.length === 0) return;
  const tokens = await store.records.list({ kind: TOKEN_RECORD, limit: 1 });
  if (tokens.length > 0) return;
  throw new UsageError(
    `${listenOption} ${exposed.join(', ')} would accept other machines, but there is no token yet: ` +
      `create one with longhaul token create NAME --role admin --home ${home.root}, or omit ${listenOption}`,
  );
}
