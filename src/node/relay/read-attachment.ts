/** An attachment of this node that is to be sent and cannot be read: no fault of the other side, and told as such. */
import type { BlobRefused } from '../../blobs/blob-refusal.ts';
import { LonghaulError } from '../../core/errors.ts';
import type { Attachment } from '../attachments.ts';

export function refuseRead({ name }: Attachment, { refusal }: BlobRefused): LonghaulError {
  return new LonghaulError('data-corrupt', `attachment ${name}: ${refusal.message}`);
}
