/** Answers about files of jobs: upload progress, file headers, refused uploads. */
import type { Refused } from '../../core/ports/refusal.ts';
import { refuse } from '../../core/ports/refusal.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { UploadRefused } from '../../files/attachments/file-upload.ts';
import { problemReply, refusedReply } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';

/** Returns the answer to a refused upload. */
export function refusedUpload({ refusal }: UploadRefused | Refused): Reply {
  const reply = replyTo(refusal);
  // The rest of the body is not read.
  return { ...reply, headers: { ...reply.headers, connection: 'close' } };
}

function replyTo(refusal: (UploadRefused | Refused)['refusal']): Reply {
  const { code, message } = refusal;
  switch (code) {
    case 'wrong-offset':
      return problemReply('wrong-state', message, { headers: progress(refusal.offset ?? 0, null) });
    case 'wrong-content':
      return problemReply('bad-input', message, { problems: [{ path: 'body', message }] });
    case 'too-large':
      return problemReply('too-large', message);
    case 'superseded':
      return problemReply('moved-on', message);
    default:
      return refusedReply(refusal);
  }
}

export const notFound = (subject: string): Reply => refusedReply(refuse('not-found', subject).refusal);

/** Returns the headers for the progress of an upload. */
export function progress(offset: number, size: number | null): Record<string, string> {
  return { 'upload-offset': String(offset), ...(size !== null && { 'upload-length': String(size) }) };
}

/** Returns headers that make a browser save the file and never display it. */
export function fileHeaders({ name, sha256 }: Attachment): Record<string, string> {
  const file = encodeURIComponent(name.split('/').at(-1) ?? '').replaceAll(/['()*]/g, percent);
  return {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${file}`,
    'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
  };
}

const percent = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
