/**
 * The paths in the directory of the blob store. They are built only from checked hashes and ids, never from a received
 * name.
 *
 *     ab/<sha256>                     a blob: complete and fsynced, or absent
 *     ab/<sha256>.md5                 its MD5, once requested
 *     ab/<sha256>.unreferenced        since when the sweep has found no reference
 *     ab/<sha256>.doomed-<random>     hidden by a sweep that is deciding (sweep-blobs.ts)
 *     uploads/<id>.part               a resumable upload: its length is the offset to continue from
 *     uploads/<id>.done               the blob of a finished upload, so that `finish` can be repeated
 *     uploads/<random>.tmp            an add that cannot be resumed
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { show } from '../../core/input/check.ts';
import { badInput } from '../../core/ports/errors.ts';

export const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;

const SHA256 = /^[0-9a-f]{64}$/;
const MD5 = /^[0-9a-f]{32}$/;
const UPLOAD_ID = /^[A-Za-z0-9_-]{1,128}$/;

export interface Layout {
  readonly folder: string;
  readonly uploads: string;
  /** The directory of a blob. */
  shard(sha256: string): string;
  blob(sha256: string): string;
  md5(sha256: string): string;
  unreferenced(sha256: string): string;
  doomed(sha256: string): string;
  partial(id: string): string;
  receipt(id: string): string;
  temporary(): string;
}

export function createLayout(folder: string): Layout {
  const uploads = join(folder, 'uploads');
  const shard = (sha256: string) => join(folder, sha256.slice(0, 2));
  const blob = (sha256: string) => join(shard(sha256), sha256);
  return {
    folder,
    uploads,
    shard,
    blob,
    md5: (sha256) => `${blob(sha256)}.md5`,
    unreferenced: (sha256) => `${blob(sha256)}.unreferenced`,
    doomed: (sha256) => `${blob(sha256)}.doomed-${randomName()}`,
    partial: (id) => join(uploads, `${id}.part`),
    receipt: (id) => join(uploads, `${id}.done`),
    temporary: () => join(uploads, `${randomName()}.tmp`),
  };
}

export const randomName = (): string => randomBytes(16).toString('hex');
export const isSha256 = (value: string): boolean => SHA256.test(value);
export const isMd5 = (value: string): boolean => MD5.test(value);

export function checkSha256(value: string): string {
  if (isSha256(value)) return value;
  throw badInput('attachment', [
    { path: 'sha256', message: `must be 64 hex digits in lower case, not ${show(value)}` },
  ]);
}

export function checkUploadId(value: string): string {
  if (UPLOAD_ID.test(value)) return value;
  throw badInput('upload', [
    { path: 'id', message: `must be 1 to 128 characters of A-Z a-z 0-9 _ -, not ${show(value)}` },
  ]);
}
