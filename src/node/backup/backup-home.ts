/**
 * A backup of a home while its node runs: jobs, queues, settings, attachments, and logs where they are wanted.
 *
 *     blobs ──▶ database, as of one moment ──▶ queues and settings ──▶ blobs that came meanwhile ──▶ manifest
 *
 * Invariant: every attachment that a job of the copied database has is in the backup. One that was there before the
 * database was copied is taken by the first look, one that came later by the second; the node removes a blob an hour after
 * its last job. The manifest comes last: a folder without one is no backup.
 */
import { mkdir, open, readdir, readlink, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Home } from '../home.ts';
import type { BackupFile, BackupManifest } from './backup-manifest.ts';
import { MANIFEST } from './backup-manifest.ts';
import { copyOne, plainFiles, sha256Of, sizeOf } from './copy-file.ts';

export interface BackupOptions {
  readonly home: Home;
  readonly to: string;
  readonly version: string;
  readonly now: number;
  readonly hasLogs: boolean;
  /** Copies the database to this path; null where the jobs are in a store elsewhere. */
  readonly copyDatabase: ((to: string) => Promise<void>) | null;
  onProgress(progress: { readonly what: string; readonly bytes: number; readonly totalBytes: number }): void;
}

const BLOB = /^blobs\/[0-9a-f]{2}\/([0-9a-f]{64})$/;
/** What an attempt leaves besides its log is of its processes, which are in no backup. */
const OF_AN_ATTEMPT = /^jobs\/[^/]+\/attempts\/\d+\/(log[^/]*|attempt\.jsonl|secrets\.json|usage\.json)$/;

export async function backupHome(options: BackupOptions): Promise<BackupManifest> {
  await makeEmpty(options.to);
  const copier = new Copier(options);
  await copier.copy('attachments', await blobsOf(options.home), 'link');
  if (options.copyDatabase !== null) await copier.database(options.copyDatabase);
  await copier.copy('queues and settings', await settingsOf(options.home), 'copy');
  await copier.copy('attachments', await blobsOf(options.home), 'link');
  if (options.hasLogs) await copier.copy('logs', await logsOf(options.home), 'copy');
  const manifest = copier.manifest(await linksOf(options.home));
  await writeManifest(options.to, manifest);
  return manifest;
}

class Copier {
  readonly #options: BackupOptions;
  readonly #done = new Map<string, BackupFile>();
  #bytes = 0;

  constructor(options: BackupOptions) {
    this.#options = options;
  }

  async copy(what: string, paths: readonly string[], how: 'link' | 'copy'): Promise<void> {
    const { home } = this.#options;
    const fresh = paths.filter((path) => !this.#done.has(path));
    const sizes = await Promise.all(fresh.map((path) => sizeOf(join(home.root, path))));
    const totalBytes = this.#bytes + sizes.reduce((sum, size) => sum + size, 0);
    for (const path of fresh) {
      await this.#copyOne(path, how);
      this.#options.onProgress({ what, bytes: this.#bytes, totalBytes });
    }
  }

  async #copyOne(path: string, how: 'link' | 'copy'): Promise<void> {
    const { home, to } = this.#options;
    if (await copyOne(join(home.root, path), join(to, path), how)) await this.#note(path, BLOB.exec(path)?.[1]);
  }

  async database(copy: (to: string) => Promise<void>): Promise<void> {
    await copy(join(this.#options.to, 'store.db'));
    await this.#note('store.db');
  }

  /** A blob is named after its hash. Its bytes are compared with it when the backup is read. */
  async #note(path: string, known?: string): Promise<void> {
    const copied = join(this.#options.to, path);
    const bytes = await sizeOf(copied);
    this.#bytes += bytes;
    this.#done.set(path, { path, bytes, sha256: known ?? (await sha256Of(copied)) });
  }

  manifest(links: BackupManifest['links']): BackupManifest {
    const { version, now, copyDatabase } = this.#options;
    return {
      format: 1,
      version,
      madeAt: new Date(now).toISOString(),
      store: copyDatabase === null ? 'elsewhere' : 'sqlite',
      files: [...this.#done.values()],
      links,
    };
  }
}

async function makeEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new LonghaulError('bad-input', `${folder} is not empty; name a new folder for the backup`);
}

const blobsOf = async ({ root, blobs }: Home): Promise<string[]> =>
  (await plainFiles(blobs)).map((path) => join(blobs, path).slice(root.length + 1)).filter((path) => BLOB.test(path));

async function settingsOf({ root, queues }: Home): Promise<string[]> {
  const names = await readdir(root);
  const own = ['node.json', 'store-identity'].filter((name) => names.includes(name));
  return [...own, ...(await plainFiles(queues)).map((path) => join('queues', path))];
}

const logsOf = async ({ jobs }: Home): Promise<string[]> =>
  (await plainFiles(jobs)).map((path) => join('jobs', path)).filter((path) => OF_AN_ATTEMPT.test(path));

async function linksOf({ queues }: Home): Promise<BackupManifest['links']> {
  const entries = (await readdir(queues, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
  return Promise.all(
    entries.map(async ({ name }) => ({ path: join('queues', name), target: await readlink(join(queues, name)) })),
  );
}

async function writeManifest(folder: string, manifest: BackupManifest): Promise<void> {
  const draft = join(folder, `${MANIFEST}.new`);
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(manifest, null, 1)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(folder, MANIFEST));
}
