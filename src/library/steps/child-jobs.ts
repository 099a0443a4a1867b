/** The jobs that `children` adds: once, under ids derived from the job and the step. */
import { createHash } from 'node:crypto';
import { toNewJob } from '../../core/input/add-options.ts';
import { toJsonText } from '../../core/input/json.ts';
import { ID_PATTERN } from '../../core/job/names.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import type { FileReader } from '../files/file-place.ts';
import { readResult } from '../files/large-result.ts';
import type { ChildJob, ChildResult } from './step-options.ts';

/** Adds the jobs that do not exist yet. Returns the ids to wait for; that of another job where it holds the unique key. */
export async function addChildren(
  store: Store,
  parent: string,
  step: string,
  jobs: readonly ChildJob[],
): Promise<readonly string[]> {
  const added = jobs.map(({ queue, data, options }, index) => {
    const id = childId(parent, step, index + 1);
    return toNewJob({ queue, data: toJsonText('data', data), newId: () => id }, { ...options, id });
  });
  const answers = await store.jobs.add(added);
  return answers.map((answer) => {
    if (answer.ok) return answer.id;
    throw new LonghaulError('refused', answer.refusal.message, { refusal: answer.refusal });
  });
}

function childId(parent: string, step: string, n: number): string {
  const plain = `${parent}.${step}.${n}`;
  if (ID_PATTERN.test(plain)) return plain;
  const hash = createHash('sha256').update(`${parent}\n${step}`).digest('hex');
  return `${hash.slice(0, 32)}.${n}`;
}

export async function childResults<Result>(
  store: Store,
  files: FileReader,
  ids: readonly string[],
): Promise<readonly ChildResult<Result>[]> {
  const jobs = await store.jobs.find(ids);
  return Promise.all(
    ids.map(async (id, index) => {
      const job = jobs[index];
      if (job === null || job === undefined) return { id, state: null, result: null, failure: null };
      const result = job.result === null ? null : ((await readResult(files, job)) as Result);
      return { id, state: job.state, result, failure: job.failure === null ? null : job.failure.message };
    }),
  );
}
