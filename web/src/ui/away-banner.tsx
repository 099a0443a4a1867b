/** The node is away: said calmly, and taken back when it answers again. What was shown stays. */
import { useEffect, useState } from 'preact/hooks';
import type { Reach } from '../data/live.ts';
import { watchReach } from '../data/live.ts';

export function useReach(): Reach {
  const [reach, setReach] = useState<Reach>('connecting');
  useEffect(() => watchReach(setReach), []);
  return reach;
}

export function AwayBanner() {
  if (useReach() !== 'away') return null;
  return (
    <div role="status" class="border-b border-warn bg-warn-ground px-5 py-1.5 text-center text-warn">
      The node does not answer. What you see is from before; this page goes on by itself when it is back.
    </div>
  );
}
