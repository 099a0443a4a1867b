/** The page of a job: state and reason, actions, steps, log, attempts, history and details. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { isSuspended } from '../../../src/core/job/job.ts';
import type { LocatedAttempt } from '../../../src/wire/attempt-view.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { comparePath } from '../compare/run.ts';
import { addressOf } from '../data/base.ts';
import { go, jobPath, queuePath, setQuery, useLocation } from '../data/location.ts';
import { useQuery } from '../data/use-query.ts';
import { Attachments } from '../job/attachments.tsx';
import { Attempts } from '../job/attempts.tsx';
import { CopyId } from '../job/copy-id.tsx';
import { Dependencies } from '../job/dependencies.tsx';
import { JobActions } from '../job/job-actions.tsx';
import { Failure, JobDetails } from '../job/job-details.tsx';
import { JobHistory, useHistory } from '../job/job-history.tsx';
import { titleOf } from '../job/job-title.ts';
import { Remote } from '../job/remote.tsx';
import { RunningNow } from '../job/running-now.tsx';
import { Steps, useSteps } from '../job/steps.tsx';
import { Timeline } from '../job/timeline.tsx';
import { UsagePlots } from '../job/usage-plots.tsx';
import { LogView } from '../log/log-view.tsx';
import { Breadcrumbs, usePageTitle } from '../ui/breadcrumbs.tsx';
import { JobChip } from '../ui/chip.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { Link } from '../ui/link.tsx';
import { reasonOf } from '../ui/local-times.ts';
import { useNow } from '../ui/relative-time.tsx';

export function JobPage({ queue, id }: { queue: string; id: string }) {
  const job = useQuery<JobView>(`api/jobs/${encodeURIComponent(id)}`, {
    concerns: (event) => event.type !== 'queue' && event.id === id,
    everyMs: 5_000,
  });
  useMoved(queue, job.data);
  if (job.data !== undefined) return <LoadedJob view={job.data} refresh={job.refresh} />;
  if (job.error?.details?.status !== 404) return <ErrorMessage error={job.error} />;
  return (
    <Empty title="Job not found" isPage>
      <code class="font-mono break-all">{id}</code> may have been deleted or pruned.{' '}
      <Link to={queuePath(queue)} class="link">
        Go to its queue
      </Link>
    </Empty>
  );
}

function LoadedJob({ view, refresh }: { view: JobView; refresh: () => void }) {
  const { id } = view;
  const selected = Number(useLocation().query.get('attempt')) || null;
  const history = useHistory(id);
  const attempts = useAttempts(view);
  const steps = useSteps(view);
  const shown = selected ?? view.attempt;
  const attempt = attempts.find((each) => each.attempt === shown);
  useTitle(view);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Title view={view} actions={<JobActions job={view} onDone={refresh} />} />
      {view.state === 'running' && <RunningNow view={view} />}
      {view.failure !== null && <Failure job={view} failure={view.failure} />}
      {view.forwardedTo !== null && <Remote id={id} />}
      <Dependencies job={view} />
      <Timeline job={view} history={history} steps={steps} />
      <Steps job={view} steps={steps} />
      {view.attempt > 0 && (
        <section aria-label="Attempt">
          {view.attempt > 1 && <AttemptChoice count={view.attempt} selected={selected} />}
          <LogView
            key={`${id}/${shown}`}
            job={id}
            attempt={selected ?? 'latest'}
            reported={attempt?.phases ?? []}
            startedAt={attempt?.script?.startedAt ?? attempt?.claimedAt ?? null}
            endedAt={attempt?.end?.endedAt ?? attempt?.endedAt ?? null}
            isSuspended={shown === view.attempt && isSuspended(view)}
          />
        </section>
      )}
      <UsagePlots key={`usage/${shown}`} attempt={attempt} />
      <JobDetails job={view} />
      <Attachments id={id} />
      {attempts.length > 0 && <Attempts {...{ id, attempts, shown }} />}
      <JobHistory rows={history} />
    </div>
  );
}

/** Replaces the URL after the job was moved to another queue. */
function useMoved(queue: string, job: JobView | undefined): void {
  useEffect(() => {
    if (job === undefined || job.queue === queue) return;
    go(`${jobPath(job.queue, job.id)}${location.search}${location.hash}`, { replace: true });
  }, [queue, job?.queue]);
}

/** Fetches the attempts; more often while the job runs. */
function useAttempts({ id, state, attempt }: JobView): readonly LocatedAttempt[] {
  const path = attempt === 0 ? null : `api/jobs/${encodeURIComponent(id)}/attempts`;
  const { data } = useQuery<{ attempts: readonly LocatedAttempt[] }>(path, {
    concerns: (event) => event.type !== 'queue' && event.id === id && event.type !== 'progress',
    everyMs: state === 'running' ? 5_000 : 60_000,
  });
  return data?.attempts ?? [];
}

/** Shows the progress in the title of the tab. */
function useTitle(job: JobView): void {
  const { state, progress, label } = job;
  const percent = state === 'running' && progress?.percent != null ? `${Math.floor(progress.percent)} %` : label;
  usePageTitle(`${percent} · ${titleOf(job).slice(0, 80)}`);
}

function Title({ view, actions }: { view: JobView; actions: ComponentChildren }) {
  const { id, queue, label, attempt } = view;
  const reason = reasonOf(view, useNow());
  const isFailed = view.state === 'failed' && view.failure !== null;
  const address = `${location.origin}${addressOf(`api/jobs/${encodeURIComponent(id)}`)}`;
  return (
    <header class="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div class="min-w-0">
        <Breadcrumbs
          crumbs={[
            ['Queues', 'queues'],
            [queue, queuePath(queue)],
          ]}
        />
        <h1 class="flex flex-wrap items-center gap-x-3 gap-y-1 text-xl font-semibold">
          <span class="min-w-0 [overflow-wrap:anywhere]">{titleOf(view)}</span>
          <JobChip label={label} queue={queue} />
        </h1>
        {/* The reason of a failure is in the box below. */}
        {!isFailed && <p class="mt-1 break-words text-soft">{reason}</p>}
        <p class="mt-1 flex flex-wrap items-center gap-2 text-sm text-soft">
          <CopyId id={id} />
          <CopyButton text={`longhaul show ${id}`} label="copy as command" />
          <CopyButton text={`curl -s ${address}`} label="copy as curl" />
          {attempt > 0 && (
            <Link to={comparePath({ id }, { id: '' })} class="link">
              compare
            </Link>
          )}
        </p>
      </div>
      {actions}
    </header>
  );
}

function AttemptChoice({ count, selected }: { count: number; selected: number | null }) {
  const numbers = Array.from({ length: Math.min(count, 50) }, (_, step) => count - step);
  return (
    <label class="mb-2 flex w-fit items-center gap-2 text-sm">
      Log of attempt
      <select
        class="rounded-md border border-line bg-sheet px-2 py-1"
        value={String(selected ?? count)}
        onChange={({ currentTarget: { value } }) => setQuery({ attempt: Number(value) === count ? null : value })}
      >
        {numbers.map((number) => (
          <option key={number} value={String(number)}>
            {number}
            {number === count ? ' (latest)' : ''}
          </option>
        ))}
      </select>
    </label>
  );
}
