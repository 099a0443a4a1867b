/** Home: what runs now, how far it is and whether it is alive; below it the queues. */
import type { RunningRows } from '../../../src/wire/overview.ts';
import { useOverview } from '../data/overview.ts';
import { useQuery } from '../data/use-query.ts';
import { QueuesTable } from '../queues/queues-table.tsx';
import { RunningTable, useKeptRows } from '../running/running-table.tsx';
import { Empty } from '../ui/empty.tsx';
import { Trouble } from '../ui/trouble.tsx';
import { FirstRun } from './first-run.tsx';

export function Home() {
  const { data: look } = useOverview();
  const running = useQuery<RunningRows>('api/running', { everyMs: 3_000 });
  const rows = useKeptRows(running.data);
  if (look !== undefined && isUntouched(look.queues)) return <FirstRun queues={look.queues} />;
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-6">
      <section aria-labelledby="running">
        <h1 id="running" class="mb-2 text-lg font-semibold">
          Running now
        </h1>
        <Trouble error={running.data === undefined ? running.error : null} />
        {rows.length > 0 && <RunningTable rows={rows} />}
        {running.data !== undefined && rows.length === 0 && (
          <Empty title="Nothing runs at the moment" command={'longhaul add sample'}>
            A job appears here as soon as it starts, with its progress, its output and what it uses.
          </Empty>
        )}
      </section>
      <section aria-labelledby="queues">
        <h2 id="queues" class="mb-2 text-lg font-semibold">
          Queues
        </h2>
        {look !== undefined && <QueuesTable queues={look.queues} />}
      </section>
    </div>
  );
}

/** No job was ever here. */
function isUntouched(
  queues: readonly { waiting: number; running: number; scheduled: number; done: number; failed: number }[],
): boolean {
  return queues.every((queue) => queue.waiting + queue.running + queue.scheduled + queue.done + queue.failed === 0);
}
