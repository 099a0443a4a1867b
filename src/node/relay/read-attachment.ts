/** Error for an attachment of this node that cannot be read: not the peer's fault. */

import { LonghaulError } from '../../core/ports/errors.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { BlobRefused } from '../../files/blobs/blob-refusal.ts';

export function refuseRead({ name }: Attachment, { refusal }: BlobRefused): LonghaulError {
  return new LonghaulError('data-corrupt', `attachment ${name}: ${refusal.message}`);
}
