/** The nodes of the store: slots, queues and load; for a node that is gone, since when and what it stored. */
import type { NodeView } from '../../../src/wire/node-view.ts';
import { bytes, plural, span } from '../../../src/wire/spans.ts';
import { RelativeTime } from '../ui/relative-time.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { NodeActions } from './node-actions.tsx';

const HEADS = [
  'Node',
  'State',
  'Slots',
  'Queues',
  'Load',
  'Memory free',
  'Disk free',
  'Clock',
  'Version',
  'Started',
  'Seen',
  'Actions',
];

interface NodesTableProps {
  readonly nodes: readonly NodeView[];
  onDone(): void;
}

export function NodesTable({ nodes, onDone }: NodesTableProps) {
  return (
    <Table caption="Nodes" stacks heads={HEADS}>
      {nodes.map((node) => (
        <NodeRow key={node.id} node={node} onDone={onDone} />
      ))}
    </Table>
  );
}

function NodeRow({ node, onDone }: { node: NodeView; onDone: () => void }) {
  const { name, host, pid, queues, memory, disk } = node;
  return (
    <tr class={node.goneAt === null ? '' : 'text-soft'}>
      <Cell class="font-medium">
        {name}
        <div class="text-xs font-normal text-soft">
          {host === name ? '' : `${host} · `}pid {pid}
        </div>
      </Cell>
      <Cell>
        <StateOf node={node} />
      </Cell>
      <Cell class="numbers">
        {node.running} of {node.slots}
      </Cell>
      <Cell class="max-w-md break-words">{queues.map(({ queue }) => queue).join(', ')}</Cell>
      <Cell class="numbers">{node.load.map((each) => each.toFixed(1)).join('  ')}</Cell>
      <Cell class="numbers">
        {bytes(memory.free)} of {bytes(memory.total)}
      </Cell>
      <Cell class="numbers">{disk === null ? '–' : `${bytes(disk.free)} of ${bytes(disk.total)}`}</Cell>
      <Cell>{skewText(node.clockSkewMs)}</Cell>
      <Cell>{node.version}</Cell>
      <Cell>
        <RelativeTime at={node.startedAt} />
      </Cell>
      <Cell>
        <RelativeTime at={node.seenAt} />
      </Cell>
      <Cell>
        <NodeActions node={node} onDone={onDone} />
      </Cell>
    </tr>
  );
}

const CLASSES: Readonly<Record<NodeView['state'], string>> = {
  up: 'text-good',
  draining: 'text-warn',
  stopped: 'text-warn',
  gone: 'text-bad',
};

function StateOf({ node: { state, goneAt, held, holds } }: { node: NodeView }) {
  return (
    <>
      <span class={CLASSES[state]}>{state}</span>
      {goneAt !== null && (
        <div class="text-xs">
          since <RelativeTime at={goneAt} />
          {held.length > 0 && <div>it ran {plural(held.length, 'job')}</div>}
          {holds !== null && (
            <div>
              stores files of {plural(holds.jobs, 'job')}, {plural(holds.attachments, 'attachment')}
            </div>
          )}
        </div>
      )}
    </>
  );
}

function skewText(ms: number): string {
  if (ms === 0) return 'in sync';
  return `${span(Math.abs(ms))} ${ms > 0 ? 'ahead' : 'behind'}`;
}
