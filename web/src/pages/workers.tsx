/** The page of nodes and workers: state, load and last heartbeat. */

import type { WorkerRecord } from '../../../src/core/ports/job-store.ts';
import type { NodeView } from '../../../src/wire/node-view.ts';
import { useQuery } from '../data/use-query.ts';
import { NodesTable } from '../nodes/nodes-table.tsx';
import { usePageTitle } from '../ui/breadcrumbs.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { Cell, Table } from '../ui/table.tsx';

const WORKER_HEADS = ['Worker', 'Host', 'Queues', { text: 'Running', class: 'text-right' }, 'Since', 'Seen'];

/** Over HTTP the info is a value: an object, or whatever a worker of another program registers. */
type ShownWorker = Omit<WorkerRecord, 'info'> & { readonly info: unknown };

/** A node applies drain and resume within two seconds. */
const POLL_MS = 3_000;

export function WorkersPage() {
  usePageTitle('Workers');
  const nodes = useQuery<{ nodes: readonly NodeView[] }>('api/nodes', { everyMs: POLL_MS });
  const workers = useQuery<{ workers: readonly ShownWorker[] }>('api/workers');
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-6">
      <ErrorMessage error={nodes.data === undefined ? nodes.error : null} />
      <section aria-labelledby="nodes">
        <h1 id="nodes" class="mb-2 text-lg font-semibold">
          Nodes
        </h1>
        <NodesTable nodes={nodes.data?.nodes ?? []} onDone={nodes.refresh} />
      </section>
      <section aria-labelledby="workers">
        <h2 id="workers" class="mb-2 text-lg font-semibold">
          Workers
        </h2>
        {workers.data?.workers.length === 0 && (
          <Empty title="No workers">
            A node has a worker for each queue; a program has one for each call of work().
          </Empty>
        )}
        {workers.data !== undefined && workers.data.workers.length > 0 && (
          <Table caption="Workers" stacks heads={WORKER_HEADS}>
            {workers.data.workers.map((worker) => (
              <tr key={worker.id} class={worker.isLost ? 'text-bad' : ''}>
                <Cell class="max-w-72 truncate font-mono text-xs">{worker.id}</Cell>
                <Cell>
                  {worker.host} · pid {worker.pid}
                </Cell>
                <Cell class="max-w-md break-words">{worker.queues.join(', ')}</Cell>
                <Cell class="numbers text-right">{worker.running.length}</Cell>
                <Cell>
                  <RelativeTime at={worker.registeredAt} />
                </Cell>
                <Cell>
                  <RelativeTime at={worker.seenAt} /> {worker.isLost && 'lost'}
                  <Trouble info={worker.info} />
                </Cell>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </div>
  );
}

/** Says why a worker claims no more jobs, or that abandoned handlers take some of its slots. */
function Trouble({ info }: Pick<ShownWorker, 'info'>) {
  const { abandoned, draining } = (info ?? {}) as { readonly abandoned?: unknown; readonly draining?: unknown };
  if (typeof draining === 'string') return <p class="text-bad">Draining: {draining}</p>;
  return typeof abandoned === 'number' ? <p class="text-bad">Abandoned handlers that still run: {abandoned}</p> : null;
}
