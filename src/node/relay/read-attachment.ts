/** An attachment of this node that is to be sent and cannot be read: no fault of the other side, and told as such. */

import { LonghaulError } from '../../core/ports/errors.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { BlobRefused } from '../../files/blobs/blob-refusal.ts';

export function refuseRead({ name }: Attachment, { refusal }: BlobRefused): LonghaulError {
  return new LonghaulError('data-corrupt', `attachment ${name}: ${refusal.message}`);
}
