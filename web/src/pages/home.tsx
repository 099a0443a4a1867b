/** The home page: running jobs with progress and liveness, and the queues. */
import type { RunningRows } from '../../../src/wire/overview.ts';
import { useOverview } from '../data/overview.ts';
import { useQuery } from '../data/use-query.ts';
import { exampleQueue } from '../queues/example-queue.ts';
import { QueuesTable } from '../queues/queues-table.tsx';
import { RunningTable, useKeptRows } from '../running/running-table.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { FirstRun } from './first-run.tsx';

export function Home() {
  const { data: overview } = useOverview();
  const running = useQuery<RunningRows>('api/running', { everyMs: 3_000 });
  const rows = useKeptRows(running.data);
  if (overview !== undefined && hasNoJobs(overview.queues)) return <FirstRun queues={overview.queues} />;
  const example = exampleQueue(overview?.queues ?? []);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-6">
      <section aria-labelledby="running">
        <h1 id="running" class="mb-2 text-lg font-semibold">
          Running jobs
        </h1>
        <ErrorMessage error={running.data === undefined ? running.error : null} />
        {rows.length > 0 && <RunningTable rows={rows} />}
        {running.data !== undefined && rows.length === 0 && (
          <Empty title="No running jobs" command={example === null ? undefined : ['add', example]}>
            A job appears here when it starts, with its progress, output and resource use.
          </Empty>
        )}
      </section>
      <section aria-labelledby="queues">
        <h2 id="queues" class="mb-2 text-lg font-semibold">
          Queues
        </h2>
        {overview !== undefined && <QueuesTable queues={overview.queues} />}
      </section>
    </div>
  );
}

/** Returns true if the node has never had a job. */
function hasNoJobs(
  queues: readonly { waiting: number; running: number; scheduled: number; done: number; failed: number }[],
): boolean {
  return queues.every((queue) => queue.waiting + queue.running + queue.scheduled + queue.done + queue.failed === 0);
}
