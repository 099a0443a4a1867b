/** Parameters and results of an attachment upload. Types and checks alone; attachment-uploads.ts does the work. */

import type { Check } from '../../core/input/check.ts';
import { described } from '../../core/input/json-schema.ts';
import type { Refused } from '../../core/ports/refusal.ts';
import type { BlobRefusalCode, BlobRefused } from '../blobs/blob-refusal.ts';
import { attachmentName } from '../outputs/attachment-name.ts';
import type { Source } from '../uploads/receive.ts';
import type { Attachment } from './attachments.ts';

export interface PutFile {
  readonly id: string;
  readonly name: string;
  /** The offset of these bytes; null starts the content again. */
  readonly offset: number | null;
  /** The number of bytes of this call, and the size of the whole content; null when unknown. */
  readonly length: number | null;
  readonly size: number | null;
  readonly sha256: string | null;
  /** The token of the lease for an output of an attempt; null for an input that a producer adds to a draft. */
  readonly lease: number | null;
  readonly now: number;
  readonly signal: AbortSignal;
  /** False: the sender does not continue after a failure, and received bytes are discarded. Default: true. */
  readonly keepsPart?: boolean;
  /** Opens the source. Called once it is clear that the bytes will be accepted. */
  source(): Source;
}

export type FileResult =
  | { readonly ok: true; readonly attachment: Attachment }
  /** Incomplete: the next byte belongs at `offset`. */
  | { readonly ok: true; readonly attachment: null; readonly offset: number; readonly size: number }
  | UploadRefused
  | Refused;

export type UploadRefusalCode = 'wrong-offset' | 'wrong-content' | 'too-large' | 'superseded';

export interface UploadRefused {
  readonly ok: false;
  readonly refusal: { readonly code: UploadRefusalCode; readonly message: string; readonly offset?: number };
}

export function refuseUpload(code: UploadRefusalCode, message: string, offset?: number): UploadRefused {
  return { ok: false, refusal: { code, message, ...(offset !== undefined && { offset }) } };
}

const CODES: Partial<Record<BlobRefusalCode, UploadRefusalCode>> = {
  'wrong-offset': 'wrong-offset',
  'not-found': 'wrong-offset',
  'too-large': 'too-large',
  superseded: 'superseded',
};

export function toUploadRefused({ refusal: { code, message, offset } }: BlobRefused): UploadRefused {
  return refuseUpload(CODES[code] ?? 'wrong-content', message, code === 'not-found' ? 0 : offset);
}

/** The name of an uploaded file. */
export const sentName: Check<string> = described(
  { type: 'string', maxLength: 255, description: 'a file name: no slash, no control characters, not hidden as .tmp' },
  (value: unknown, report, path) => attachmentName(value, report, path),
);

/** The name of an attachment. Outputs of a script may be in directories: names with a slash between them. */
export const attachedName: Check<string> = described(
  { type: 'string', maxLength: 4_096, description: 'the name of an attachment, its slashes written as %2F' },
  (value: unknown, report, path) => {
    for (const part of String(value).split('/')) attachmentName(part, report, path);
    return String(value);
  },
);
