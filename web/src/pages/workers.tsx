/** The machines and the workers: who does the work, how loaded each is, who is silent. */

import type { WorkerRecord } from '../../../src/core/job-store.ts';
import type { NodeEntry } from '../../../src/node/node-registry.ts';
import { bytes } from '../../../src/wire/spans.ts';
import { useQuery } from '../data/use-query.ts';
import { Empty } from '../ui/empty.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { Trouble } from '../ui/trouble.tsx';
import { When } from '../ui/when.tsx';

const NODE_HEADS = ['Node', 'Slots', 'Load', 'Memory free', 'Disk free', 'Version', 'Started', 'Seen'];
const WORKER_HEADS = ['Worker', 'Host', 'Queues', { text: 'Running', class: 'text-right' }, 'Since', 'Seen'];

export function WorkersPage() {
  const nodes = useQuery<{ nodes: readonly NodeEntry[] }>('api/nodes');
  const workers = useQuery<{ workers: readonly WorkerRecord[] }>('api/workers');
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-6">
      <Trouble error={nodes.data === undefined ? nodes.error : null} />
      <section aria-labelledby="nodes">
        <h1 id="nodes" class="mb-2 text-lg font-semibold">
          Nodes
        </h1>
        <Table caption="Nodes" heads={NODE_HEADS}>
          {(nodes.data?.nodes ?? []).map((node) => (
            <NodeRow key={node.id} node={node} />
          ))}
        </Table>
      </section>
      <section aria-labelledby="workers">
        <h2 id="workers" class="mb-2 text-lg font-semibold">
          Workers
        </h2>
        {workers.data?.workers.length === 0 && (
          <Empty title="No worker is there">
            A node has one for each queue; a program has one for each call of work().
          </Empty>
        )}
        {workers.data !== undefined && workers.data.workers.length > 0 && (
          <Table caption="Workers" heads={WORKER_HEADS}>
            {workers.data.workers.map((worker) => (
              <tr key={worker.id} class={worker.isLost ? 'text-bad' : ''}>
                <Cell class="max-w-72 truncate font-mono text-xs">{worker.id}</Cell>
                <Cell>
                  {worker.host} · pid {worker.pid}
                </Cell>
                <Cell class="max-w-md break-words">{worker.queues.join(', ')}</Cell>
                <Cell class="numbers text-right">{worker.running.length}</Cell>
                <Cell>
                  <When at={worker.registeredAt} />
                </Cell>
                <Cell>
                  <When at={worker.seenAt} /> {worker.isLost && 'lost'}
                </Cell>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </div>
  );
}

function NodeRow({ node }: { node: NodeEntry }) {
  return (
    <tr>
      <Cell class="font-medium">
        {node.host} · pid {node.pid} {node.isDraining && <span class="text-warn">draining</span>}
      </Cell>
      <Cell class="numbers">
        {node.running} of {node.slots}
      </Cell>
      <Cell class="numbers">{node.load.map((each) => each.toFixed(1)).join('  ')}</Cell>
      <Cell class="numbers">
        {bytes(node.memory.free)} of {bytes(node.memory.total)}
      </Cell>
      <Cell class="numbers">{node.disk === null ? '–' : `${bytes(node.disk.free)} of ${bytes(node.disk.total)}`}</Cell>
      <Cell>{node.version}</Cell>
      <Cell>
        <When at={node.startedAt} />
      </Cell>
      <Cell>
        <When at={node.seenAt} />
      </Cell>
    </tr>
  );
}
