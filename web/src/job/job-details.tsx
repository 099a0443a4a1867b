/** Details of a job: times, counters, tags, data, result and checkpoint. */
import type { ComponentChildren } from 'preact';
import { NEVER } from '../../../src/core/job/step.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';

export function JobDetails({ job }: { job: JobView }) {
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <section class="panel p-4">
        <h2 class="mb-2 font-semibold">Details</h2>
        <dl class="grid grid-cols-[8rem_1fr] gap-x-3 gap-y-1">
          <Detail name="added">
            <RelativeTime at={job.createdAt} />
          </Detail>
          {job.runAt > job.createdAt && job.runAt < NEVER && (
            <Detail name={job.suspension === null ? 'not before' : 'waits until'}>
              <RelativeTime at={job.runAt} />
            </Detail>
          )}
          {job.endedAt !== null && (
            <Detail name="ended">
              <RelativeTime at={job.endedAt} />
            </Detail>
          )}
          <Detail name="priority">{job.priority}</Detail>
          <Detail name="attempt">{job.attempt}</Detail>
          <Detail name="counters">{countersOf(job)}</Detail>
          <Detail name="tags">{job.tags.length === 0 ? '–' : job.tags.join(', ')}</Detail>
          {job.foldedInto !== null && <Detail name="coalesced into">job {job.foldedInto}</Detail>}
          {job.folded > 0 && <Detail name="coalesced">{job.folded} equal jobs finish with this one</Detail>}
          {job.lease !== null && <Detail name="worker">{job.lease.worker}</Detail>}
        </dl>
      </section>
      <section class="panel min-w-0 p-4">
        <Json title="Data" value={job.data} />
        {job.result !== null && <Json title="Result" value={job.result} />}
        {job.checkpoint !== undefined && job.checkpoint !== null && <Json title="Checkpoint" value={job.checkpoint} />}
      </section>
    </div>
  );
}

function countersOf({ failures, crashes, interruptions, resends }: JobView): string {
  const counted = [
    [failures, 'failure'],
    [crashes, 'crash', 'crashes'],
    [interruptions, 'interruption'],
    [resends, 'resend'],
  ] as const;
  const counts = counted.flatMap(([count, one, many = `${one}s`]) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`],
  );
  return counts.length === 0 ? 'no failures, no interruptions' : counts.join(', ');
}

/** The failure of a job: group, message and detail. */
export function Failure({ failure: { group, message, detail } }: { failure: NonNullable<JobView['failure']> }) {
  return (
    <div class="rounded-md border border-bad bg-bad-ground px-3 py-2 text-bad">
      <p class="font-medium break-counts">
        {group}: {message}
      </p>
      {detail !== null && <Block text={detail} />}
    </div>
  );
}

function Detail({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt class="text-soft">{name}</dt>
      <dd class="min-w-0 break-counts">{children}</dd>
    </>
  );
}

function Json({ title, value }: { title: string; value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? 'null';
  return (
    <div class="mb-3">
      <h2 class="mb-1 flex items-center gap-2 font-semibold">
        {title} <CopyButton text={text} />
      </h2>
      <Block text={text} />
    </div>
  );
}

function Block({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <pre
      class="max-h-80 overflow-auto rounded-md bg-ground p-2 font-mono text-[13px] whitespace-pre-wrap break-counts"
      tabIndex={0}
    >
      {text}
    </pre>
  );
}
