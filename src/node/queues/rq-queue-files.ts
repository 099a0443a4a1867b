/**
 * RQ's directory `queue/<name>`: creates and deletes the queues that its `config.json` defines.
 *
 * A deleted queue's directory is renamed to `<name>.deleted.<inode>`, as in RQ, and no longer defines a queue.
 */
import { mkdir, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../home.ts';

const CONFIG = 'config.json';

/** Writes the queue's `config.json`, or links it to another file. Complete, or absent: a scan may come at any time. */
export async function writeRqQueue(
  home: Home,
  name: string,
  config: { readonly text: string } | { readonly link: string },
): Promise<void> {
  const folder = join(home.rqQueues, name);
  const draft = join(folder, `${CONFIG}.tmp`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await rm(draft, { force: true });
  if ('link' in config) await symlink(await realpath(config.link), draft);
  else await writeFile(draft, config.text, { mode: 0o600 });
  await rename(draft, join(folder, CONFIG));
}

/** Renames the directory. Returns a function that undoes it, or null where the directory defines no queue. */
export async function removeRqQueue(home: Home, name: string): Promise<(() => Promise<void>) | null> {
  const folder = join(home.rqQueues, name);
  const found = await stat(join(folder, CONFIG)).catch(() => null);
  if (found === null) return null;
  const removed = `${folder}.deleted.${(await stat(folder)).ino}`;
  await rename(folder, removed);
  return () => rename(removed, folder);
}
