/**
 * The files through which `longhaul step` and the node exchange the steps of a script.
 *
 *     work/steps.json      the steps of the job at the start, for the script to read
 *     work/.steps/KEY.*    output of the command, and its end as JSON; written by `longhaul step`
 *     kept/KEY             the node's answer, beside the workdir: the script's user cannot replace it
 *
 * The line `step KEY` on fd 3 announces an end. It is on disk whether a node runs or not, so a node that was away finds
 * it. Files carry the content, because only short lines are written to a pipe in one piece.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Check } from '../../../core/input/check.ts';
import { anything, fields, flag, integer, oneOf, text } from '../../../core/input/check.ts';
import { stepName } from '../../../core/job/names.ts';
import type { Step, StepKind } from '../../../core/job/step.ts';
import { nameProblem } from '../../../files/outputs/attachment-name.ts';

/** The list of steps in the workdir. */
export const STEPS = 'steps.json';
/** The answer to a step that the store keeps. Any other answer is the reason why it does not. */
export const KEPT = 'kept';

/** A step in `steps.json`: its result is a value, not JSON text. */
export type ListedStep = Omit<Step, 'result'> & { readonly result: unknown };

export const STREAMS = ['stdout', 'stderr'] as const;
export type Stream = (typeof STREAMS)[number];

/** What a command wrote: text, other bytes, or an attachment of the job if it is too large for a step. */
export type StreamContent = string | { readonly base64: string } | { readonly attachment: string };

/** The result of a step of a script. */
export interface StepOutput extends Readonly<Record<Stream, StreamContent>> {
  readonly exit: number;
}

/** The end of a command, as `longhaul step` reports it. */
export interface StepReport {
  readonly token: number;
  readonly name: string;
  readonly status: 'done' | 'failed';
  readonly attempts: number;
  readonly ranMs: number;
  /** Of a step that failed. */
  readonly failure?: string | undefined;
  /** Of a step that is done: a `StepOutput`. */
  readonly result?: unknown;
  /** Whether the output files become attachments. */
  readonly isLarge: boolean;
}

const MAX_COUNT = 1_000_000_000;
const MAX_FAILURE = 4_096;
export const stepReport: Check<StepReport> = fields(
  {
    token: integer(0, Number.MAX_SAFE_INTEGER),
    name: stepName,
    status: oneOf('done', 'failed'),
    attempts: integer(1, MAX_COUNT),
    ranMs: integer(0, Number.MAX_SAFE_INTEGER),
    isLarge: flag,
  },
  { failure: text({ max: MAX_FAILURE }), result: anything },
);

/** Returns the name of the files of a step: a name of a step may contain any character. */
export function stepKey(kind: StepKind, name: string): string {
  return createHash('sha256').update(`${kind}:${name}`).digest('hex').slice(0, 32);
}

/** Returns the key of one try of a step. */
export const tryKey = (name: string, attempts: number): string => `${stepKey('run', name)}-${attempts}`;

export const stepFolder = (work: string): string => join(work, '.steps');
export const reportPath = (work: string, key: string): string => join(stepFolder(work), `${key}.json`);
export const streamName = (key: string, stream: Stream): string => `${key}.${stream}`;
export const streamPath = (work: string, key: string, stream: Stream): string =>
  join(stepFolder(work), streamName(key, stream));

export const answerFolder = (attempt: string): string => join(attempt, 'kept');
/** `work` is the workdir, which is in the attempt's directory. */
export const answerPath = (work: string, key: string): string => join(answerFolder(join(work, '..')), key);

/** Returns the name of the attachment for output that is too large for a step. */
export function outputName(step: string, stream: Stream): string {
  const plain = `${step}.${stream}`;
  return `steps/${nameProblem(plain) === null ? plain : streamName(stepKey('run', step), stream)}`;
}

/** Returns the attachments with the output of a step. */
export function outputsOf({ kind, status, result }: Pick<ListedStep, 'kind' | 'status' | 'result'>) {
  if (kind !== 'run' || status !== 'done' || typeof result !== 'object' || result === null) return [];
  return STREAMS.flatMap((stream) => {
    const content = (result as Partial<StepOutput>)[stream];
    return typeof content === 'object' && 'attachment' in content ? [{ stream, name: content.attachment }] : [];
  });
}
