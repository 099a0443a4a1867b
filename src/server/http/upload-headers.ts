/** Parses the headers of an upload: offset, total length, lease token and expected hash. */
import type { IncomingMessage } from 'node:http';
import type { Problem } from '../../core/ports/errors.ts';
import { badInput } from '../../core/ports/errors.ts';

export interface UploadHeaders {
  readonly offset: number | null;
  readonly length: number | null;
  readonly size: number | null;
  readonly sha256: string | null;
  readonly lease: number | null;
}

const SHA256 = /^[0-9a-f]{64}$/i;
/** RFC 9530: a dictionary of hashes, each in base64 between colons. */
const REPR_DIGEST = /(?:^|,)\s*sha-256\s*=\s*:([A-Za-z0-9+/]{43}=):/i;

/** Reports all problems together. */
export function uploadHeaders({ headers }: IncomingMessage): UploadHeaders {
  const problems: Problem[] = [];
  const number = (name: string): number | null => {
    const value = headers[name];
    if (value === undefined) return null;
    if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
    problems.push({ path: name, message: `must be an integer of at most 15 digits, not ${String(value)}` });
    return null;
  };
  const read = {
    offset: number('upload-offset'),
    length: number('content-length'),
    size: number('upload-length'),
    lease: number('lease-token'),
    sha256: hashIn(headers, problems),
  };
  if (problems.length > 0) throw badInput('headers', problems);
  return read;
}

function hashIn(headers: IncomingMessage['headers'], problems: Problem[]): string | null {
  const { 'x-content-sha256': plain, 'repr-digest': digest } = headers;
  if (typeof plain === 'string') {
    if (!SHA256.test(plain)) problems.push({ path: 'x-content-sha256', message: 'must be 64 hexadecimal digits' });
    return plain.toLowerCase();
  }
  if (typeof digest !== 'string') return null;
  const [, base64] = REPR_DIGEST.exec(digest) ?? [];
  if (base64 === undefined) {
    problems.push({ path: 'repr-digest', message: 'must have a hash as sha-256=:<base64>:' });
    return null;
  }
  return Buffer.from(base64, 'base64').toString('hex');
}
