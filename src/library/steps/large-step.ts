/**
 * Step results over 256 KB: an attachment of the job, and in the step a mark that names it.
 *
 * The mark has the hash of the content, so that a file of the same name that the handler attaches is not taken for it.
 */
import { createHash } from 'node:crypto';
import type { Step } from '../../core/job/step.ts';
import { MAX_STEP_BYTES } from '../../core/job/step.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import { nameProblem } from '../../files/outputs/attachment-name.ts';
import type { FileContent } from '../files/file-content.ts';
import type { FileReader } from '../files/file-place.ts';
import { createJobFile } from '../files/job-files.ts';
import type { WrittenStep } from './step-calls.ts';

type Attach = (name: string, content: FileContent) => Promise<Attachment>;
type NamedStep = Pick<Step, 'kind' | 'name'>;

/** Returns whether the store refuses this result of a step. */
export function isLargeStep({ name, result = '' }: WrittenStep): boolean {
  if ((name.length + result.length) * 3 <= MAX_STEP_BYTES) return false;
  return Buffer.byteLength(name) + Buffer.byteLength(result) > MAX_STEP_BYTES;
}

/** Returns the step; a result that is too large for the store is attached, with the mark in its place. */
export async function withSmallStep(step: WrittenStep, attach: Attach): Promise<WrittenStep> {
  if (!isLargeStep(step)) return step;
  const bytes = Buffer.from(step.result ?? '');
  const file = stepFileName(step);
  const { sha256 } = await attach(file, bytes).catch((error: unknown) => {
    const what = `the result of step ${step.name} is ${bytes.length} bytes of JSON, more than ${MAX_STEP_BYTES}, and cannot be kept as a file`;
    const code = error instanceof LonghaulError ? error.code : 'refused';
    throw new LonghaulError(code, `${what}: ${(error as Error).message}`, { cause: error });
  });
  return { ...step, result: markOf(file, sha256) };
}

/** Returns the result of a kept step, wherever it is. */
export async function readStepResult(reader: FileReader, id: string, step: Step): Promise<unknown> {
  const value = JSON.parse(step.result ?? 'null') as unknown;
  const mark = `{"attachment":${JSON.stringify(stepFileName(step))},`;
  if (step.result?.startsWith(mark) !== true) return value;
  const { attachment, sha256 } = value as { readonly attachment: string; readonly sha256?: unknown };
  if (step.result !== markOf(attachment, String(sha256))) return value;
  const files = await reader.list(id);
  const file = files.find(
    (each) => each.name === attachment && each.direction === 'out' && each.sha256 === sha256 && isLarge(each, step),
  );
  if (file !== undefined) return createJobFile(reader, id, file).json();
  throw new LonghaulError(
    'refused',
    `the result of step ${step.name} was the file ${attachment} of job ${id}, which was replaced or deleted: requeue the job with fresh`,
  );
}

const isLarge = ({ size }: Attachment, { name }: NamedStep): boolean => size + Buffer.byteLength(name) > MAX_STEP_BYTES;

const markOf = (attachment: string, sha256: string): string => JSON.stringify({ attachment, sha256 });

/** Names of steps may have characters that names of files may not. */
function stepFileName({ kind, name }: NamedStep): string {
  const prefix = kind === 'run' ? 'step' : kind;
  const plain = `${prefix}-${name}.json`;
  if (nameProblem(plain) === null) return plain;
  return `${prefix}-${createHash('sha256').update(name).digest('hex').slice(0, 32)}.json`;
}
