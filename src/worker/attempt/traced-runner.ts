/** A runner within the spans of telemetry. Without telemetry it is the runner itself, so nothing is added to an attempt. */
import type { RunningJob } from '../../core/job/job.ts';
import { inTrace } from '../../core/job/traceparent.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { AttemptRunner } from './run-outcome.ts';

export function tracedRunner(run: AttemptRunner, telemetry: Telemetry | null): AttemptRunner {
  if (telemetry === null) return run;
  return (job, context) => telemetry.attempt(job, (traced) => run(traced, context));
}

/** The same for jobs that belong to the trace of another job. */
export function tracedRunnerOf(
  run: AttemptRunner,
  telemetry: Telemetry | null,
  contextOf: (job: RunningJob) => Promise<string | undefined>,
): AttemptRunner {
  const traced = tracedRunner(run, telemetry);
  return async (job, context) => traced(inTrace(job, await contextOf(job)), context);
}
