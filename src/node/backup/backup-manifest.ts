/** `manifest.json` of a backup: what is in it, each file with its size and hash, so that a restore can tell that all is there. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checked, fields, integer, listOf, oneOf, text } from '../../core/input/check.ts';
import { LonghaulError } from '../../core/ports/errors.ts';

export interface BackupManifest {
  readonly format: 1;
  readonly version: string;
  readonly madeAt: string;
  /** `elsewhere`: the jobs are in a store that has its own backups. */
  readonly store: 'sqlite' | 'elsewhere';
  readonly files: readonly BackupFile[];
  /** Symbolic links among the queues, with what they say. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

export interface BackupFile {
  /** Relative to the backup and to the home alike. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export const MANIFEST = 'manifest.json';
const MOST_FILES = 10_000_000;

/** Never absolute and never upwards: what a manifest names is written below the new home. */
const path = text({
  max: 4_096,
  pattern: /^(?!\/)(?!(.*\/)?\.\.?(\/|$))[^\u0000]+$/,
  must: 'must be a path below the home',
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
  files: listOf(file, MOST_FILES),
  links: listOf(fields({ path, target: text({ max: 4_096 }) }), MOST_FILES),
});

export async function readManifest(folder: string): Promise<BackupManifest> {
  const json = await readFile(join(folder, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new LonghaulError(
      'bad-input',
      `${folder} is no backup: it has no ${MANIFEST}. It is written last, so a backup that was interrupted has none`,
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
