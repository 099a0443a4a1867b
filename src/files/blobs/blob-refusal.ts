/**
 * Refusals of the blob store: expected, returned and never thrown. A damaged blob, a full disk and bad input are thrown
 * as `LonghaulError` (data-corrupt, store-full, bad-input).
 */

export const BLOB_REFUSAL_CODES = [
  'not-found',
  'wrong-offset',
  'wrong-size',
  'wrong-hash',
  'too-large',
  'superseded',
  'changed',
  'odd-file',
  'out-of-range',
] as const;
export type BlobRefusalCode = (typeof BLOB_REFUSAL_CODES)[number];

export interface BlobRefusal {
  readonly code: BlobRefusalCode;
  readonly message: string;
  /** Where the next byte belongs. Set with `wrong-offset`, and with `wrong-size` of an upload that can continue. */
  readonly offset?: number;
}

export interface BlobRefused {
  readonly ok: false;
  readonly refusal: BlobRefusal;
}

export function refuseBlob(code: BlobRefusalCode, message: string, offset?: number): BlobRefused {
  return { ok: false, refusal: offset === undefined ? { code, message } : { code, message, offset } };
}
