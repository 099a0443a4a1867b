/** A running job: progress, expected end and its basis, host, and liveness. */
import type { JobView } from '../../../src/wire/job-view.ts';
import type { OneRunning, RunningRow } from '../../../src/wire/overview.ts';
import { localIso } from '../../../src/wire/spans.ts';
import { useQuery } from '../data/use-query.ts';
import { BASIS, endText, usualText } from '../running/expected.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Elapsed, RelativeTime, useNow } from '../ui/relative-time.tsx';

export function RunningNow({ view }: { view: JobView }) {
  const { data } = useQuery<OneRunning>(`api/jobs/${encodeURIComponent(view.id)}/running`, {
    concerns: (event) => event.type !== 'queue' && event.id === view.id,
    everyMs: 3_000,
  });
  return (
    <section aria-label="Running" class="panel px-4 py-3">
      <ProgressBar percent={view.progress?.percent ?? null} label="progress" />
      <div class="mt-1 flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
        <p class="min-w-0 break-words">
          {view.progress?.text ?? <span class="text-soft">No progress reported yet.</span>}
        </p>
        {data?.row != null && <Ends row={data.row} />}
      </div>
      {data?.row != null && <Liveness row={data.row} />}
    </section>
  );
}

function Ends({ row }: { row: RunningRow }) {
  const { expectedEndAt, expectedBy, isSlow } = row;
  const now = useNow();
  return (
    <p title={usualText(row)}>
      {expectedEndAt !== null && (
        <>
          ends <strong title={localIso(expectedEndAt)}>{endText(expectedEndAt, now)}</strong>
        </>
      )}
      {expectedBy !== null && <span class="text-soft">, {BASIS[expectedBy]}</span>}
      {expectedEndAt === null && !isSlow && (
        <span class="text-soft">expected end unknown: no progress reported, and too few earlier jobs</span>
      )}
      {isSlow && <span class="font-medium text-warn"> slower than usual</span>}
    </p>
  );
}

/** The worker, the last heartbeat and the last output. */
function Liveness({ row: { job, host, pid, heartbeatAt, lastOutputAt, isSilent } }: { row: RunningRow }) {
  const startedAt = job.lease?.startedAt ?? job.lease?.claimedAt;
  return (
    <dl class="mt-2 flex flex-wrap gap-x-6 gap-y-1 text-sm [&_dt]:text-soft [&>div]:flex [&>div]:gap-1.5">
      {startedAt !== undefined && (
        <div>
          <dt>for</dt>
          <dd>
            <Elapsed at={startedAt} />
          </dd>
        </div>
      )}
      <div>
        <dt>on</dt>
        <dd class="break-all" title={job.lease?.worker}>
          {host ?? 'a worker'}
          {pid !== null && ` · pid ${pid}`}
        </dd>
      </div>
      <div>
        <dt>heartbeat</dt>
        <dd>
          <RelativeTime at={heartbeatAt} />
        </dd>
      </div>
      <div class={isSilent ? 'font-medium text-warn' : ''}>
        <dt>{isSilent ? 'silent, last output' : 'last output'}</dt>
        <dd>
          <RelativeTime at={lastOutputAt} />
        </dd>
      </div>
    </dl>
  );
}
