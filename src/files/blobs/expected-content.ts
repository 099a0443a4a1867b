/** Compares received content with what its sender announced. */
import type { FileHandle } from 'node:fs/promises';
import type { Problem } from '../../core/ports/errors.ts';
import { badInput } from '../../core/ports/errors.ts';
import { type BlobRefused, refuseBlob } from './blob-refusal.ts';
import { isMd5, isSha256 } from './layout.ts';
import { hashFile } from './scan-file.ts';

/** Fields that are absent are not checked. */
export interface Expected {
  readonly sha256?: string;
  readonly md5?: string;
  readonly size?: number;
}

export interface Content {
  readonly handle: FileHandle;
  readonly sha256: string;
  readonly size: number;
}

/** Throws `bad-input` for a malformed hash or size. */
export function checkExpected({ sha256, md5, size }: Expected): void {
  const problems: Problem[] = [];
  if (sha256 !== undefined && !isSha256(sha256))
    problems.push({ path: 'sha256', message: 'must be 64 hex digits in lower case' });
  if (md5 !== undefined && !isMd5(md5)) problems.push({ path: 'md5', message: 'must be 32 hex digits in lower case' });
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0)) {
    problems.push({ path: 'size', message: 'must be a whole number of bytes' });
  }
  if (problems.length > 0) throw badInput('attachment', problems);
}

/** Returns a refusal on a mismatch, otherwise null. The MD5 is computed only when one is expected. */
export async function findMismatch(content: Content, expected: Expected): Promise<BlobRefused | null> {
  const { sha256, md5, size } = expected;
  if (size !== undefined && size !== content.size) {
    return refuseBlob('wrong-size', `received ${content.size} bytes, expected ${size}`);
  }
  if (sha256 !== undefined && sha256 !== content.sha256) return wrongHash('SHA-256', content.sha256, sha256);
  if (md5 === undefined) return null;
  const actual = (await hashFile(content.handle, 'md5')).digest('hex');
  return actual === md5 ? null : wrongHash('MD5', actual, md5);
}

function wrongHash(algorithm: string, actual: string, expected: string): BlobRefused {
  return refuseBlob('wrong-hash', `received content with ${algorithm} ${actual}, expected ${expected}`);
}
