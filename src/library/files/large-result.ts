/** Results over 256 KB: the attachment `result.json`, and in the store a mark that names it. The same as for scripts. */
import { MAX_JSON_BYTES } from '../../core/input/json.ts';
import type { Job } from '../../core/job/job.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import { LARGE_RESULT, RESULT_NAME } from '../../files/outputs/result-file.ts';
import type { FileContent } from './file-content.ts';
import type { FileReader } from './file-place.ts';
import { createJobFile } from './job-files.ts';

/** Returns whether the JSON text of a result is too large for the store. */
export const isLargeResult = (text: string): boolean =>
  text.length * 3 > MAX_JSON_BYTES && Buffer.byteLength(text) > MAX_JSON_BYTES;

/** Attaches a large result, and returns what the store holds in its place. */
export async function attachResult(
  text: string,
  attach: (name: string, content: FileContent) => Promise<Attachment>,
): Promise<string> {
  const bytes = Buffer.from(text);
  await attach(RESULT_NAME, bytes).catch((error: unknown) => {
    const what = `the result is ${bytes.length} bytes of JSON, more than ${MAX_JSON_BYTES}, and cannot be kept as a file`;
    const code = error instanceof LonghaulError ? error.code : 'refused';
    throw new LonghaulError(code, `${what}: ${(error as Error).message}`, { cause: error });
  });
  return LARGE_RESULT;
}

/** Returns the result of a done job, wherever it is. A handler may return the mark itself: then no file is that large. */
export async function readResult(reader: FileReader, { id, result }: Job): Promise<unknown> {
  if (result === LARGE_RESULT) {
    const files = await reader.list(id);
    const file = files.find(
      ({ name, direction, size }) => name === RESULT_NAME && direction === 'out' && size > MAX_JSON_BYTES,
    );
    if (file !== undefined) return createJobFile(reader, id, file).json();
  }
  return JSON.parse(result ?? 'null') as unknown;
}
