/** The calls of steps to the store. A handler in an isolated process or thread makes them through its worker. */
import type { RunningJob } from '../../core/job/job.ts';
import type { Step } from '../../core/job/step.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { StepWrite } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { FileContent } from '../files/file-content.ts';
import type { FileReader } from '../files/file-place.ts';
import { addChildren, childResults } from './child-jobs.ts';
import { withSmallStep } from './large-step.ts';
import type { ChildJob, ChildResult } from './step-options.ts';

/** A step to keep, without the job and its token. */
export type WrittenStep = Omit<StepWrite, 'id' | 'token'>;

export interface Kept {
  readonly step: Step;
  /** The store's time. */
  readonly now: number;
}

/** The calls of one attempt. */
export interface StepCalls {
  /** Resolves when the attempt holds its lease for certain. Rejects when another attempt may have begun. */
  confirmLease(): Promise<void>;
  /** Keeps a step under the token of the attempt; a large result as a file. Returns it as it is kept. */
  keep(write: WrittenStep): Promise<Kept>;
  /** Returns the steps of the job. */
  read(): Promise<readonly Step[]>;
  /** Adds the jobs of a step that do not exist yet. Returns their ids. */
  addChildren(step: string, jobs: readonly ChildJob[]): Promise<readonly string[]>;
  childResults(ids: readonly string[]): Promise<readonly ChildResult[]>;
}

/** Where large results are, and the lease. */
export interface StepParts extends Pick<StepCalls, 'confirmLease'> {
  readonly files: FileReader;
  attach(name: string, content: FileContent): Promise<Attachment>;
}

export function stepCalls(store: Store, { id, lease }: RunningJob, parts: StepParts): StepCalls {
  return {
    confirmLease: () => parts.confirmLease(),
    async keep(given) {
      const write = await withSmallStep(given, parts.attach);
      const [answer] = await store.jobs.keepSteps([{ ...write, id, token: lease.token }]);
      if (answer === undefined) throw new Error('the store left a step unanswered');
      if (answer.ok) return answer;
      throw new LonghaulError('refused', answer.refusal.message, { refusal: answer.refusal });
    },
    read: () => store.jobs.steps(id),
    addChildren: (step, jobs) => addChildren(store, id, step, jobs),
    childResults: (ids) => childResults(store, parts.files, ids),
  };
}
