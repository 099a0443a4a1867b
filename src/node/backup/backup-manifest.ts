/**
 * `manifest.json` of a backup: each file with its size and hash, so that a restore can verify that the backup is
 * complete.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checked, fields, integer, listOf, oneOf, text } from '../../core/input/check.ts';
import { LonghaulError } from '../../core/ports/errors.ts';

export interface BackupManifest {
  readonly format: 1;
  readonly version: string;
  readonly madeAt: string;
  /** `elsewhere`: the jobs are in a store with backups of its own. */
  readonly store: 'sqlite' | 'elsewhere';
  readonly files: readonly BackupFile[];
  /** Symbolic links in `queues/`, with their targets. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

export interface BackupFile {
  /** Relative to both the backup and the data directory. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export const MANIFEST = 'manifest.json';
const MAX_FILES = 10_000_000;

/** Never absolute, and never `..`: every path is written below the new data directory. */
const path = text({
  max: 4_096,
  pattern: /^(?!\/)(?!(.*\/)?\.\.?(\/|$))[^\u0000]+$/,
  must: 'must be a path below the data directory',
});
const file = fields({
  path,
  bytes: integer(0, Number.MAX_SAFE_INTEGER),
  sha256: text({ max: 64, pattern: /^[0-9a-f]{64}$/ }),
});
const shape = fields({
  format: integer(1, 1),
  version: text({ max: 64 }),
  madeAt: text({ max: 64 }),
  store: oneOf('sqlite', 'elsewhere'),
  files: listOf(file, MAX_FILES),
  links: listOf(fields({ path, target: text({ max: 4_096 }) }), MAX_FILES),
});

export async function readManifest(folder: string): Promise<BackupManifest> {
  const json = await readFile(join(folder, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new LonghaulError(
      'bad-input',
      `${folder} is not a backup: it has no ${MANIFEST}. The file is written last, so an interrupted backup has none`,
    );
  });
  return checked(join(folder, MANIFEST), parse(json, folder), shape) as BackupManifest;
}

function parse(json: string, folder: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new LonghaulError('data-corrupt', `${join(folder, MANIFEST)} is damaged: ${(error as Error).message}`);
  }
}
