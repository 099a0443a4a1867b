/**
 * Restores a data directory from a backup. Each file is checked against its hash; the new data directory appears
 * complete or not at all.
 */
import { mkdir, readdir, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Home } from '../home.ts';
import { homeAt } from '../home.ts';
import type { BackupFile, BackupManifest } from './backup-manifest.ts';
import { readManifest } from './backup-manifest.ts';
import { copyOne, sha256Of } from './copy-file.ts';

export interface RestoreOptions {
  readonly from: string;
  readonly home: Home;
  /** Gives the copied store a new identity, and releases its leases. */
  renewStore(home: Home): Promise<void>;
  onProgress(progress: { readonly what: string; readonly bytes: number; readonly totalBytes: number }): void;
}

export async function restoreHome(options: RestoreOptions): Promise<BackupManifest> {
  const { from, home, renewStore } = options;
  const manifest = await readManifest(from);
  await refuseNonEmpty(home.root);
  const draft = homeAt(`${home.root}.restoring`);
  await rm(draft.root, { recursive: true, force: true });
  await mkdir(draft.queues, { recursive: true, mode: 0o700 });
  try {
    await copyAll(manifest, draft, options);
    if (manifest.store === 'sqlite') await renewStore(draft);
    await rename(draft.root, home.root);
  } catch (error) {
    await rm(draft.root, { recursive: true, force: true });
    throw error;
  }
  return manifest;
}

/** An empty directory is replaced. */
async function refuseNonEmpty(root: string): Promise<void> {
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (names === null) return;
  if (names.length > 0)
    throw new LonghaulError('bad-input', `${root} is not empty: choose a new directory with --home`);
  await rmdir(root);
}

async function copyAll(manifest: BackupManifest, draft: Home, { from, onProgress }: RestoreOptions): Promise<void> {
  const totalBytes = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let bytes = 0;
  for (const file of manifest.files) {
    await copyChecked(from, draft.root, file);
    bytes += file.bytes;
    onProgress({ what: 'files', bytes, totalBytes });
  }
  for (const { path, target } of manifest.links) {
    await mkdir(dirname(join(draft.root, path)), { recursive: true, mode: 0o700 });
    await symlink(target, join(draft.root, path));
  }
}

/** Hashes the copy, since the copy is used. */
async function copyChecked(from: string, root: string, { path, sha256 }: BackupFile): Promise<void> {
  const [source, target] = [join(from, path), join(root, path)];
  if (!(await copyOne(source, target, 'copy'))) throw damaged(source, 'it is missing');
  if ((await sha256Of(target)) !== sha256) throw damaged(source, 'its content is not what was backed up');
}

function damaged(path: string, why: string): LonghaulError {
  return new LonghaulError('data-corrupt', `${path} is damaged: ${why}; nothing was restored: use another backup`);
}
