/** Results over 256 KB: the attachment `result.json`, and in the store a mark that names it. The same as for scripts. */
import { MAX_JSON_BYTES } from '../../core/input/json.ts';
import type { Job } from '../../core/job/job.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import { LARGE_RESULT, RESULT_NAME } from '../../files/outputs/result-file.ts';
import type { AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import type { FileContent } from './file-content.ts';
import type { FileReader } from './file-place.ts';
import { createJobFile } from './job-files.ts';

type Completed = AttemptOutcome & { readonly kind: 'complete' };
interface Attacher {
  attach(name: string, content: FileContent): Promise<Attachment>;
}
type LargeOutcome = Completed & { readonly result: string };

/** Returns whether the result of an attempt is too large for the store. */
export function hasLargeResult(outcome: AttemptOutcome): outcome is LargeOutcome {
  if (outcome.kind !== 'complete' || outcome.result === undefined) return false;
  return outcome.result.length * 3 > MAX_JSON_BYTES && Buffer.byteLength(outcome.result) > MAX_JSON_BYTES;
}

/** Attaches a result that is too large for the store, and returns the outcome with the mark in its place. */
export async function attachResult(outcome: LargeOutcome, attacher: Attacher): Promise<AttemptOutcome> {
  const bytes = Buffer.from(outcome.result);
  await attacher.attach(RESULT_NAME, bytes).catch((error: unknown) => {
    const what = `the result is ${bytes.length} bytes of JSON, more than ${MAX_JSON_BYTES}, and cannot be kept as a file`;
    const code = error instanceof LonghaulError ? error.code : 'refused';
    throw new LonghaulError(code, `${what}: ${(error as Error).message}`, { cause: error });
  });
  return { ...outcome, result: LARGE_RESULT };
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
