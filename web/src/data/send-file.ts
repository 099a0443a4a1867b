/** Uploads a file as an attachment and reports progress. */
import type { ProblemDetails } from '../../../src/wire/problem-details.ts';
import { addressOf } from './base.ts';
import { CallError } from './call.ts';

/** Uses XMLHttpRequest because fetch does not report upload progress. */
export function sendFile(job: string, file: File, onShare: (share: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', addressOf(`api/jobs/${encodeURIComponent(job)}/attachments/${encodeURIComponent(file.name)}`));
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.upload.addEventListener('progress', ({ loaded, total }) => onShare(total === 0 ? 1 : loaded / total));
    request.addEventListener('error', () => reject(new CallError('The node does not answer.', null)));
    request.addEventListener('load', () => {
      if (request.status < 300) resolve();
      else reject(errorOf(request));
    });
    request.send(file);
  });
}

function errorOf(request: XMLHttpRequest): CallError {
  try {
    const details = JSON.parse(request.responseText) as ProblemDetails;
    return new CallError(details.detail, details);
  } catch {
    return new CallError(`The node answered ${request.status}.`, null);
  }
}
