/** A job: what it is and why, what can be done with it, its log, and everything that is known of it. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PlacedAttempt } from '../../../src/wire/attempt-view.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { comparePath } from '../compare/run.ts';
import { go, jobPath, queuePath, setQuery, usePlace } from '../data/address.ts';
import { addressOf } from '../data/base.ts';
import { useQuery } from '../data/use-query.ts';
import { Attachments } from '../job/attachments.tsx';
import { Attempts } from '../job/attempts.tsx';
import { Dependencies } from '../job/dependencies.tsx';
import { JobActions } from '../job/job-actions.tsx';
import { Failure, JobFacts } from '../job/job-facts.tsx';
import { JobHistory, useHistory } from '../job/job-history.tsx';
import { Remote } from '../job/remote.tsx';
import { RunningNow } from '../job/running-now.tsx';
import { Timeline } from '../job/timeline.tsx';
import { UsagePlots } from '../job/usage-plots.tsx';
import { LogView } from '../log/log-view.tsx';
import { Chip } from '../ui/chip.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Link } from '../ui/link.tsx';
import { reasonOf } from '../ui/local-times.ts';
import { Trouble } from '../ui/trouble.tsx';
import { useNow } from '../ui/when.tsx';

export function JobPage({ queue, id }: { queue: string; id: string }) {
  const job = useQuery<JobView>(`api/jobs/${encodeURIComponent(id)}`, {
    concerns: (event) => event.type !== 'queue' && event.id === id,
    everyMs: 5_000,
  });
  useMoved(queue, job.data);
  if (job.data !== undefined) return <Known view={job.data} refresh={job.refresh} />;
  if (job.error?.details?.status !== 404) return <Trouble error={job.error} />;
  return (
    <Empty title="There is no such job">
      <code class="font-mono break-all">{id}</code> may have been deleted or pruned.{' '}
      <Link to={queuePath(queue)} class="link">
        To its queue
      </Link>
    </Empty>
  );
}

function Known({ view, refresh }: { view: JobView; refresh: () => void }) {
  const { id } = view;
  const chosen = Number(usePlace().query.get('attempt')) || null;
  const history = useHistory(id);
  const attempts = useAttempts(view);
  const shown = chosen ?? view.attempt;
  const attempt = attempts.find((each) => each.attempt === shown);
  useTitle(view);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Title view={view} actions={<JobActions job={view} onDone={refresh} />} />
      {view.state === 'running' && <RunningNow view={view} />}
      {view.failure !== null && <Failure failure={view.failure} />}
      {view.forwardedTo !== null && <Remote id={id} />}
      <Dependencies job={view} />
      <Timeline job={view} history={history} />
      {view.attempt > 0 && (
        <section aria-label="Attempt">
          {view.attempt > 1 && <AttemptChoice count={view.attempt} chosen={chosen} />}
          <LogView
            key={`${id}/${shown}`}
            job={id}
            attempt={chosen ?? 'latest'}
            spoken={attempt?.phases ?? []}
            begunAt={attempt?.script?.startedAt ?? attempt?.claimedAt ?? null}
            endedAt={attempt?.end?.endedAt ?? attempt?.endedAt ?? null}
          />
        </section>
      )}
      <UsagePlots key={`usage/${shown}`} attempt={attempt} />
      <JobFacts job={view} />
      <Attachments id={id} />
      {attempts.length > 0 && <Attempts {...{ id, attempts, shown }} />}
      <JobHistory rows={history} />
    </div>
  );
}

/** A job that was moved has another address: that one is shown from then on. */
function useMoved(queue: string, job: JobView | undefined): void {
  useEffect(() => {
    if (job === undefined || job.queue === queue) return;
    go(`${jobPath(job.queue, job.id)}${location.search}${location.hash}`, { replace: true });
  }, [queue, job?.queue]);
}

/** While it runs its figures move, so they are asked for again. */
function useAttempts({ id, state, attempt }: JobView): readonly PlacedAttempt[] {
  const path = attempt === 0 ? null : `api/jobs/${encodeURIComponent(id)}/attempts`;
  const { data } = useQuery<{ attempts: readonly PlacedAttempt[] }>(path, {
    concerns: (event) => event.type !== 'queue' && event.id === id && event.type !== 'progress',
    everyMs: state === 'running' ? 5_000 : 60_000,
  });
  return data?.attempts ?? [];
}

/** How far it is can be read from the tab. */
function useTitle({ name, id, state, progress, label }: JobView): void {
  const percent = state === 'running' && progress?.percent != null ? `${Math.floor(progress.percent)} %` : label;
  useEffect(() => {
    document.title = `${percent} · ${(name ?? id).slice(0, 80)} · Longhaul`;
    return () => void (document.title = 'Longhaul');
  }, [percent, name, id]);
}

function Title({ view, actions }: { view: JobView; actions: ComponentChildren }) {
  const { id, queue, name, label, attempt } = view;
  const address = `${location.origin}${addressOf(`api/jobs/${encodeURIComponent(id)}`)}`;
  return (
    <header class="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div class="min-w-0">
        <p class="text-sm text-soft">
          <Link to={queuePath(queue)} class="link">
            {queue}
          </Link>
        </p>
        <h1 class="flex flex-wrap items-center gap-x-3 gap-y-1 text-xl font-semibold">
          <span class="break-all">{name ?? id}</span>
          <Chip word={label} />
        </h1>
        <p class="mt-1 break-words text-soft">{reasonOf(view, useNow())}</p>
        <p class="mt-1 flex flex-wrap items-center gap-2 text-sm text-soft">
          <code class="font-mono break-all">{id}</code>
          <CopyButton text={id} label="copy id" />
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

function AttemptChoice({ count, chosen }: { count: number; chosen: number | null }) {
  const numbers = Array.from({ length: Math.min(count, 50) }, (_, step) => count - step);
  return (
    <label class="mb-2 flex w-fit items-center gap-2 text-sm">
      Log of attempt
      <select
        class="rounded-md border border-line bg-sheet px-2 py-1"
        value={String(chosen ?? count)}
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
