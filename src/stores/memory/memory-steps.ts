/** The steps of jobs in the memory store. */
import type { Job } from '../../core/job/job.ts';
import type { Step, StepKind } from '../../core/job/step.ts';

export class MemorySteps {
  readonly #steps = new Map<string, Map<string, Step>>();

  of({ id }: Pick<Job, 'id'>): readonly Step[] {
    return [...(this.#steps.get(id)?.values() ?? [])].sort((a, b) => a.number - b.number);
  }

  get({ id }: Pick<Job, 'id'>, kind: StepKind, name: string): Step | undefined {
    return this.#steps.get(id)?.get(`${kind}:${name}`);
  }

  put({ id }: Pick<Job, 'id'>, step: Step): void {
    const steps = this.#steps.get(id) ?? new Map<string, Step>();
    steps.set(`${step.kind}:${step.name}`, step);
    this.#steps.set(id, steps);
  }

  remove({ id }: Pick<Job, 'id'>): void {
    this.#steps.delete(id);
  }
}
