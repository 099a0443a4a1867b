/** What was given and what came of it. */
import type { ComponentChildren } from 'preact';
import type { JobView } from '../../../src/wire/job-view.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { When } from '../ui/when.tsx';

export function JobFacts({ job }: { job: JobView }) {
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <section class="panel p-4">
        <h2 class="mb-2 font-semibold">Facts</h2>
        <dl class="grid grid-cols-[8rem_1fr] gap-x-3 gap-y-1">
          <Fact name="added">
            <When at={job.createdAt} />
          </Fact>
          {job.runAt > job.createdAt && (
            <Fact name="not before">
              <When at={job.runAt} />
            </Fact>
          )}
          {job.endedAt !== null && (
            <Fact name="ended">
              <When at={job.endedAt} />
            </Fact>
          )}
          <Fact name="priority">{job.priority}</Fact>
          <Fact name="attempt">{job.attempt}</Fact>
          <Fact name="counted">{countersOf(job)}</Fact>
          <Fact name="tags">{job.tags.length === 0 ? '–' : job.tags.join(', ')}</Fact>
          {job.foldedInto !== null && <Fact name="goes with">job {job.foldedInto}</Fact>}
          {job.folded > 0 && <Fact name="stands for">{job.folded} more that were equal when it started</Fact>}
          {job.lease !== null && <Fact name="worker">{job.lease.worker}</Fact>}
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
  const words = counted.flatMap(([count, one, many = `${one}s`]) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`],
  );
  return words.length === 0 ? 'no failure, no interruption' : words.join(', ');
}

/** Why it went wrong, in the job's own words. */
export function Failure({ failure: { group, message, detail } }: { failure: NonNullable<JobView['failure']> }) {
  return (
    <div class="rounded-md border border-bad bg-bad-ground px-3 py-2 text-bad">
      <p class="font-medium break-words">
        {group}: {message}
      </p>
      {detail !== null && <Block text={detail} />}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre
      class="max-h-80 overflow-auto rounded-md bg-ground p-2 font-mono text-[13px] whitespace-pre-wrap break-words"
      tabIndex={0}
    >
      {text}
    </pre>
  );
}
