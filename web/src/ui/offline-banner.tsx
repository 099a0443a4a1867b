/** A banner shown while the node is unreachable. The last data stay visible. */
import { useEffect, useState } from 'preact/hooks';
import type { Connection } from '../data/live.ts';
import { watchConnection } from '../data/live.ts';

export function useConnection(): Connection {
  const [reach, setReach] = useState<Connection>('connecting');
  useEffect(() => watchConnection(setReach), []);
  return reach;
}

export function OfflineBanner() {
  if (useConnection() !== 'away') return null;
  return (
    <div role="status" class="border-b border-warn bg-warn-ground px-5 py-1.5 text-center text-warn">
      The node does not answer. The data shown may be out of date; this page reconnects automatically.
    </div>
  );
}
