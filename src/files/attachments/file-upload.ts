/** What somebody who sends a file to a job says of it, and what is answered. Words alone; attachment-uploads.ts acts. */

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
  /** Where these bytes belong; null: they begin the content anew. */
  readonly offset: number | null;
  /** How many come now, and how long the whole is; null where that is not known. */
  readonly length: number | null;
  readonly size: number | null;
  readonly sha256: string | null;
  /** The token of the lease under which it was made; null for what a producer gives to a draft. */
  readonly lease: number | null;
  readonly now: number;
  readonly signal: AbortSignal;
  /** Asked for once it is clear that the bytes will be taken. */
  source(): Source;
}

export type FileResult =
  | { readonly ok: true; readonly attachment: Attachment }
  /** Not whole yet: the next byte belongs at `offset`. */
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

/** What a file that is sent may be called. */
export const sentName: Check<string> = described(
  { type: 'string', maxLength: 255, description: 'a file name: no slash, no control characters, not hidden as .tmp' },
  (value: unknown, report, path) => attachmentName(value, report, path),
);

/** What a script made may lie in folders: names with a slash between them. */
export const attachedName: Check<string> = described(
  { type: 'string', maxLength: 4_096, description: 'the name of an attachment, its slashes written as %2F' },
  (value: unknown, report, path) => {
    for (const part of String(value).split('/')) attachmentName(part, report, path);
    return String(value);
  },
);
