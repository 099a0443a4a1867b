/** The list of queues, and the form for a new one. */
import { useState } from 'preact/hooks';
import { useHasRole } from '../data/me.ts';
import { useOverview } from '../data/overview.ts';
import { NewQueue } from '../queues/new-queue.tsx';
import { QueuesTable } from '../queues/queues-table.tsx';
import { usePageTitle } from '../ui/breadcrumbs.tsx';
import { Button } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';

export function QueuesPage() {
  usePageTitle('Queues');
  const { data } = useOverview();
  const [isMaking, setMaking] = useState(false);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <header class="flex items-center justify-between gap-2">
        <h1 class="text-lg font-semibold">Queues</h1>
        <div class="flex items-center gap-3">
          <Link to="throttles" class="link">
            Throttles
          </Link>
          {useHasRole('operate') && <Button onClick={() => setMaking(true)}>New queue …</Button>}
        </div>
      </header>
      {data !== undefined && <QueuesTable queues={data.queues} />}
      {isMaking && <NewQueue onClose={() => setMaking(false)} />}
    </div>
  );
}
