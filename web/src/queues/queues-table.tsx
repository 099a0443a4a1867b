/** The table of queues: counts, oldest wait, throughput, and expected time until empty. */

import type { QueueRow } from '../../../src/wire/overview.ts';
import { localIso, span } from '../../../src/wire/spans.ts';
import { queuePath } from '../data/location.ts';
import { QueueChip } from '../ui/chip.tsx';
import { Empty } from '../ui/empty.tsx';
import { Link } from '../ui/link.tsx';
import { Elapsed, useNow } from '../ui/relative-time.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { Cell, Table } from '../ui/table.tsx';

const RIGHT = 'text-right';
const WIDE = 'max-sm:hidden';
const HEADS = [
  'Queue',
  { text: 'State', class: WIDE },
  { text: 'Waiting', class: RIGHT },
  { text: 'Scheduled', class: `${RIGHT} ${WIDE}` },
  { text: 'Running', class: RIGHT },
  { text: 'Failed', class: RIGHT },
  { text: 'Done', class: `${RIGHT} ${WIDE}` },
  { text: 'Oldest wait', class: WIDE },
  { text: 'Last hour', class: WIDE },
  { text: 'Empty in', class: WIDE },
];

export function QueuesTable({ queues }: { queues: readonly QueueRow[] }) {
  if (queues.length === 0) {
    return (
      <Empty title="No queues yet" command={['queue', 'hello', '--create']}>
        Put an executable file into the folder queues/ of the data directory, or create a queue for jobs of the library:
      </Empty>
    );
  }
  return (
    <Table caption="Queues" heads={HEADS}>
      {queues.map((queue) => (
        <Row key={queue.name} queue={queue} />
      ))}
    </Table>
  );
}

function Row({ queue }: { queue: QueueRow }) {
  const path = queuePath(queue.name);
  return (
    <tr class="hover:bg-raised/50">
      <Cell class="max-w-72">
        <Link to={path} class="link font-medium">
          {queue.name}
        </Link>
        <div class="sm:hidden">
          <State queue={queue} />
        </div>
        {queue.problem !== null && <div class="text-xs break-words text-bad">{queue.problem}</div>}
      </Cell>
      <Cell class={WIDE}>
        <State queue={queue} />
        {queue.note !== null && <div class="line-clamp-2 max-w-64 text-xs text-soft max-sm:hidden">{queue.note}</div>}
      </Cell>
      <Count value={queue.waiting} to={`${path}?state=waiting`} />
      <Count value={queue.scheduled} to={`${path}?label=scheduled`} cell={WIDE} />
      <Count value={queue.running} to={`${path}?state=running`} />
      <Count value={queue.failed} to={`${path}?state=failed`} className={queue.failed > 0 ? 'text-bad' : ''} />
      <Count value={queue.done} to={`${path}?state=done`} cell={WIDE} />
      <Cell class={WIDE}>
        {queue.oldestWaitAt === null ? <span class="text-soft">–</span> : <Elapsed at={queue.oldestWaitAt} />}
      </Cell>
      <Cell class={WIDE}>
        <Sparkline
          values={queue.minutes}
          title={`${queue.name}: done per minute in the last ${queue.minutes.length} minutes`}
        />
      </Cell>
      <Cell class={WIDE}>
        <EmptyIn at={queue.emptyAt} basis={queue.emptyBasis} />
      </Cell>
    </tr>
  );
}

function State({ queue: { state, isWithoutWorker, note } }: { queue: QueueRow }) {
  return <QueueChip {...{ state, isWithoutWorker }} title={note ?? undefined} />;
}

interface CountProps {
  readonly value: number;
  readonly to: string;
  readonly className?: string;
  readonly cell?: string;
}

function Count({ value, to, className = '', cell = '' }: CountProps) {
  return (
    <Cell class={`numbers text-right ${cell}`}>
      {value === 0 ? (
        <span class="text-soft">0</span>
      ) : (
        <Link to={to} class={`hover:underline ${className}`}>
          {value.toLocaleString('en')}
        </Link>
      )}
    </Cell>
  );
}

function EmptyIn({ at, basis }: { at: number | null; basis: string | null }) {
  const now = useNow();
  if (at === null) return <span class="text-soft">–</span>;
  return (
    <span title={localIso(at)}>
      about {span(Math.max(0, at - now))}
      <span class="block text-xs text-soft">by {basis}</span>
    </span>
  );
}
