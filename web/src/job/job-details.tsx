/** Details of a job: times, counters, tags, data, result and checkpoint. */
import type { ComponentChildren } from 'preact';
import { failureText } from '../../../src/core/job/failure-text.ts';
import { NEVER } from '../../../src/core/job/step.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { queuePath } from '../data/location.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Link } from '../ui/link.tsx';
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

/** The failure of a job: what went wrong, and its detail. A job that has not failed shows that of an earlier attempt. */
export function Failure({
  job: { state, queue },
  failure,
}: {
  job: JobView;
  failure: NonNullable<JobView['failure']>;
}) {
  const { group, detail } = failure;
  const isNow = state === 'failed';
  const text = failureText(failure);
  // One line is shown as it is, a stack trace as a block.
  const line = detail === null || detail.includes('\n') || text.includes(detail) ? null : detail;
  return (
    <div
      role="note"
      aria-label="Failure"
      class={`rounded-md border px-3 py-2 ${isNow ? 'border-bad bg-bad-ground text-bad' : 'border-line bg-sheet'}`}
    >
      {!isNow && <p class="text-sm text-soft">An earlier attempt failed</p>}
      <p class="font-medium break-words">{text}</p>
      <p class="mt-1 text-sm break-words">
        {line !== null && `${line} · `}
        <Link to={`${queuePath(queue)}?state=failed&group=${encodeURIComponent(group)}`} class="underline">
          Jobs with the same failure
        </Link>
      </p>
      {detail?.includes('\n') && <Block text={detail} />}
    </div>
  );
}

function Detail({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt class="text-soft">{name}</dt>
      <dd class="min-w-0 break-words">{children}</dd>
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
      class="max-h-80 overflow-auto rounded-md bg-ground p-2 font-mono text-[13px] whitespace-pre-wrap break-words"
      tabIndex={0}
    >
      {text}
    </pre>
  );
}
