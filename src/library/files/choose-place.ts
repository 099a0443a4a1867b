/** Chooses the place of files for a connection. The code of a place is loaded when the first file needs it. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { badInput } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { listAttachments } from '../../files/attachments/attachments.ts';
import { UploadRecords } from '../../files/attachments/upload-records.ts';
import { isRedisAddress } from '../store-address.ts';
import { type FilePlace, lazyPlace, noPlace } from './file-place.ts';

export interface PlaceOptions {
  /** The address of the store. */
  readonly address: string;
  readonly store: Store;
  /** The data directory; null for none. */
  readonly home: string | null;
  /** The address of a node that shares the store, and the token for it. */
  readonly node?: string | undefined;
  readonly token?: string | undefined;
}

/** Throws `bad-input` for a node address with a store that has its files elsewhere. */
export function choosePlace({ address, store, home, node, token }: PlaceOptions): FilePlace {
  if (node !== undefined && !isRedisAddress(address))
    throw badInput('connect options', [
      { path: 'files', message: 'is only for Redis: other stores keep files in their directory or at their node' },
    ]);
  if (isNodeAddress(address)) return nodePlace({ address, token, store: null });
  const elsewhere = node === undefined ? null : nodePlace({ address: node, token, store });
  if (home !== null) return directoryPlace(home, store, elsewhere);
  if (elsewhere !== null) return elsewhere;
  return /^memory:/i.test(address) ? temporaryPlace(store) : noPlace(store);
}

const isNodeAddress = (address: string): boolean => /^(https?|unix):/i.test(address);

function nodePlace(options: { address: string; token: string | undefined; store: Store | null }): FilePlace {
  return lazyPlace(async () => (await import('./node-place.ts')).openNodePlace(options));
}

function directoryPlace(home: string, store: Store, elsewhere: FilePlace | null): FilePlace {
  const place = recordsFirst(store, async () =>
    (await import('./directory-place.ts')).openDirectoryPlace({ home, store, elsewhere }),
  );
  return {
    ...place,
    async sweep(signal) {
      if (await takeSweep(home)) await place.sweep(signal);
    },
  };
}

/** Opens the directory only for content: the lists of files, and of begun uploads, are in the store. */
function recordsFirst(store: Store, open: () => Promise<FilePlace>): FilePlace {
  const place = lazyPlace(open);
  const uploads = new UploadRecords(store);
  return {
    ...place,
    list: (id) => listAttachments(store, id),
    unfinished: async (id) => ((await uploads.names(id)).length === 0 ? null : place.unfinished(id)),
  };
}

const SWEEP_INTERVAL_MS = 3_600_000;

/** Of all processes that use a directory, one an hour gets the sweep. A directory without files needs none. */
async function takeSweep(home: string): Promise<boolean> {
  const mark = join(home, 'files-swept');
  if (!existsSync(join(home, 'blobs'))) return false;
  const last = await stat(mark).catch(() => null);
  if (last !== null && Date.now() - last.mtimeMs < SWEEP_INTERVAL_MS) return false;
  await writeFile(mark, '', { mode: 0o600 });
  const now = new Date();
  await utimes(mark, now, now);
  return true;
}

/** A temporary directory, for a store that ends with its process. It is deleted when the connection closes. */
export function temporaryPlace(store: Store): FilePlace {
  const place = recordsFirst(store, async () => {
    const home = await mkdtemp(join(tmpdir(), 'longhaul-files-'));
    const opened = await (await import('./directory-place.ts')).openDirectoryPlace({ home, store, elsewhere: null });
    const remove = (): Promise<void> => rm(home, { recursive: true, force: true });
    return { ...opened, close: () => opened.close().then(remove) };
  });
  return { ...place, sweep: async () => undefined };
}
