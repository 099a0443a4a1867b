/** A job while it runs: how far it is, when it will be done and by what that is known, where it runs, and whether it is alive. */
import type { JobView } from '../../../src/wire/job-view.ts';
import type { OneRunning, RunningRow } from '../../../src/wire/overview.ts';
import { localIso } from '../../../src/wire/spans.ts';
import { useQuery } from '../data/use-query.ts';
import { BASIS, endWords, usualWords } from '../running/expected.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Since, useNow, When } from '../ui/when.tsx';

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
          {view.progress?.text ?? <span class="text-soft">It has told nothing of its progress yet.</span>}
        </p>
        {data?.row != null && <Ends row={data.row} />}
      </div>
      {data?.row != null && <Signs row={data.row} />}
    </section>
  );
}

function Ends({ row }: { row: RunningRow }) {
  const { expectedEndAt, expectedBy, isSlow } = row;
  const now = useNow();
  return (
    <p title={usualWords(row)}>
      {expectedEndAt !== null && (
        <>
          ends <strong title={localIso(expectedEndAt)}>{endWords(expectedEndAt, now)}</strong>
        </>
      )}
      {expectedBy !== null && <span class="text-soft">, {BASIS[expectedBy]}</span>}
      {expectedEndAt === null && !isSlow && (
        <span class="text-soft">its end is not known: no progress was told, and too few jobs ran before it</span>
      )}
      {isSlow && <span class="font-medium text-warn"> slower than usual</span>}
    </p>
  );
}

/** Who runs it, and when it was last heard of. */
function Signs({ row: { job, host, pid, heartbeatAt, lastOutputAt, isSilent } }: { row: RunningRow }) {
  const startedAt = job.lease?.startedAt ?? job.lease?.claimedAt;
  return (
    <dl class="mt-2 flex flex-wrap gap-x-6 gap-y-1 text-sm [&_dt]:text-soft [&>div]:flex [&>div]:gap-1.5">
      {startedAt !== undefined && (
        <div>
          <dt>for</dt>
          <dd>
            <Since at={startedAt} />
          </dd>
        </div>
      )}
      <div>
        <dt>on</dt>
        <dd class="break-all">
          {host ?? job.lease?.worker}
          {pid !== null && ` · pid ${pid}`}
        </dd>
      </div>
      <div>
        <dt>heartbeat</dt>
        <dd>
          <When at={heartbeatAt} />
        </dd>
      </div>
      <div class={isSilent ? 'font-medium text-warn' : ''}>
        <dt>{isSilent ? 'silent, last output' : 'last output'}</dt>
        <dd>
          <When at={lastOutputAt} />
        </dd>
      </div>
    </dl>
  );
}
