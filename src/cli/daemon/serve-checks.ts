/**
 * What could be wrong with a node before it begins: the home folder, the port, the store, who is let in. Each throws in
 * words for the user, and nothing has been opened to the world by then.
 */
import type { Store } from '../../core/ports/store.ts';
import { unsafePlaces } from '../../node/doctor/home-safety.ts';
import { makeHome } from '../../node/make-home.ts';
import { refuseRunningNode } from '../../node/node-lock.ts';
import { TOKEN_RECORD } from '../../server/auth/tokens.ts';
import { UsageError } from '../table/command.ts';
import type { Reachable } from './port-holder.ts';
import { reachableAt } from './port-holder.ts';
import type { Log } from './serve-log.ts';
import type { ServeSettings } from './serve-settings.ts';
import { isLoopback } from './serve-settings.ts';

/** Refuses a home that others can change or a node runs on; returns where this node can listen. Creates nothing. */
export async function checkPlaces({ home, listen, port }: ServeSettings): Promise<Reachable> {
  refuseOpenPlaces(unsafePlaces(home, process.getuid?.() ?? 0));
  refuseRunningNode(home.lock);
  return reachableAt(listen, port);
}

/** Creates the home folder where there is none. */
export async function prepareHome({ home }: ServeSettings, log: Log): Promise<void> {
  if (await makeHome(home)) log.info({ plain: true }, `made the home folder ${home.root}, with a queue to try: sample`);
  for (const { path, problem, cure } of unsafePlaces(home, process.getuid?.() ?? 0))
    log.warn({ path }, `${path} ${problem}; ${cure}`);
}

function refuseOpenPlaces(places: ReturnType<typeof unsafePlaces>): void {
  const open = places.filter(({ isOpenToChange }) => isOpenToChange);
  if (open.length === 0) return;
  throw new UsageError(open.map(({ path, problem, cure }) => `${path} ${problem}; ${cure}`).join('\n'));
}

/** What weakens the promises of a store: told, and refused where somebody wants it strict. */
export function checkNotices(store: Store, { isStrict }: ServeSettings, log: Log): void {
  const notices = linesOf(store, 'notices');
  if (isStrict && notices.length > 0) throw new UsageError(`refused because of --strict: ${notices.join('; ')}`);
  for (const notice of notices) log.warn(notice);
}

/** What a store says of its server in words, where it has one. */
export function linesOf(store: Store, about: 'notices' | 'facts'): readonly string[] {
  const said = (store as Store & Readonly<Record<string, unknown>>)[about];
  return Array.isArray(said) ? (said as readonly string[]) : [];
}

/** Whoever can reach the port can run jobs: beyond this machine only with a token. */
export async function checkListen(store: Store, { listen, listenOption, home }: ServeSettings): Promise<void> {
  const beyond = listen.filter((address) => !isLoopback(address));
  if (beyond.length === 0) return;
  const tokens = await store.records.list({ kind: TOKEN_RECORD, limit: 1 });
  if (tokens.length > 0) return;
  throw new UsageError(
    `${listenOption} ${beyond.join(', ')} would let others in, and there is no token yet: ` +
      `make one with: longhaul token create NAME --role admin --home ${home.root}, or leave ${listenOption} out`,
  );
}
