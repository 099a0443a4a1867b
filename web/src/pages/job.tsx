/** A job: what it is and why, what can be done with it, its log, and everything that is known of it. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { queuePath, usePlace } from '../data/address.ts';
import { useQuery } from '../data/use-query.ts';
import { JobActions } from '../job/job-actions.tsx';
import { JobFacts } from '../job/job-facts.tsx';
import { JobHistory } from '../job/job-history.tsx';
import { LogView } from '../log/log-view.tsx';
import { Chip } from '../ui/chip.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Link } from '../ui/link.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Trouble } from '../ui/trouble.tsx';

export function JobPage({ queue, id }: { queue: string; id: string }) {
  const { query } = usePlace();
  const job = useQuery<JobView>(`api/jobs/${encodeURIComponent(id)}`, {
    concerns: (event) => event.type !== 'queue' && event.id === id,
    everyMs: 5_000,
  });
  const [chosen, choose] = useState<number | null>(Number(query.get('attempt')) || null);
  if (job.data === undefined) {
    if (job.error?.details?.status === 404)
      return (
        <Empty title="There is no such job">
          <code class="font-mono break-all">{id}</code> may have been deleted or pruned.{' '}
          <Link to={queuePath(queue)} class="link">
            To its queue
          </Link>
        </Empty>
      );
    return <Trouble error={job.error} />;
  }
  const view = job.data;
  const attempt = chosen ?? 'latest';
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Title view={view} />
      <JobActions job={view} onDone={job.refresh} />
      {view.state === 'running' && (
        <div class="panel px-4 py-3">
          <ProgressBar percent={view.progress?.percent ?? null} label="progress" />
          <p class="mt-1 break-words text-soft">{view.progress?.text ?? 'It has reported no progress yet.'}</p>
        </div>
      )}
      {view.attempt > 0 && (
        <section aria-label="Attempt">
          {view.attempt > 1 && <Attempts count={view.attempt} chosen={chosen} choose={choose} />}
          <LogView key={`${id}/${attempt}/${attempt === 'latest' ? view.attempt : ''}`} job={id} attempt={attempt} />
        </section>
      )}
      <JobFacts job={view} />
      <JobHistory id={id} />
    </div>
  );
}

function Title({ view }: { view: JobView }) {
  return (
    <header>
      <p class="text-sm text-soft">
        <Link to={queuePath(view.queue)} class="link">
          {view.queue}
        </Link>
      </p>
      <h1 class="flex flex-wrap items-center gap-x-3 gap-y-1 text-xl font-semibold">
        <span class="break-all">{view.name ?? view.id}</span>
        <Chip word={view.label} />
      </h1>
      <p class="mt-1 break-words text-soft">{view.reason}</p>
      <p class="mt-1 flex flex-wrap items-center gap-2 text-sm text-soft">
        <code class="font-mono break-all">{view.id}</code>
        <CopyButton text={view.id} label="copy id" />
        <CopyButton text={`longhaul show ${view.id}`} label="copy as command" />
        <CopyButton text={`curl -s ${location.origin}/api/jobs/${view.id}`} label="copy as curl" />
      </p>
    </header>
  );
}

function Attempts({
  count,
  chosen,
  choose,
}: {
  count: number;
  chosen: number | null;
  choose: (n: number | null) => void;
}) {
  const numbers = Array.from({ length: Math.min(count, 50) }, (_, step) => count - step);
  return (
    <label class="mb-2 flex items-center gap-2 text-sm">
      Attempt
      <select
        class="rounded-md border border-line bg-sheet px-2 py-1"
        value={String(chosen ?? count)}
        onChange={(event) =>
          choose(Number(event.currentTarget.value) === count ? null : Number(event.currentTarget.value))
        }
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
