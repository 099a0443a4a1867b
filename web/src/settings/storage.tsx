/** What each queue keeps, in bytes: its ended jobs, their results, logs and files; and how much of it retention lets go. */

import { bytes } from '../../../src/wire/spans.ts';
import { queuePath } from '../data/address.ts';
import { useQuery } from '../data/use-query.ts';
import { Link } from '../ui/link.tsx';
import { Cell, Table } from '../ui/table.tsx';
import type { Kept, Prunable } from './kept-bytes.ts';
import { goingBytes, PARTS, sumOf, totalOf } from './kept-bytes.ts';

const SELDOM = { concerns: () => false, everyMs: 30_000 };
const RIGHT = 'text-right';
const HEADS = [
  'Queue',
  ...PARTS.map(([, words]) => ({ text: words, class: `${RIGHT} max-sm:hidden` })),
  { text: 'Together', class: RIGHT },
  { text: 'Due to go', class: RIGHT },
];

export function Storage() {
  const { data } = useQuery<{ queues: readonly Kept[] }>('api/storage', SELDOM);
  const { data: due } = useQuery<{ jobs: readonly Prunable[] }>('api/prunable', SELDOM);
  if (data === undefined) return null;
  const queues = [...data.queues].sort((a, b) => totalOf(b) - totalOf(a));
  return (
    <section aria-labelledby="storage">
      <h2 id="storage" class="font-semibold">
        Storage
      </h2>
      <p class="mb-2 text-soft">
        What ended jobs take up, by queue. How long they are kept is the queue's setting retention; what is due to go by
        it goes by itself.
      </p>
      {queues.length === 0 ? (
        <p class="text-soft">No job has ended yet, so nothing is kept.</p>
      ) : (
        <Table caption="Storage by queue" heads={HEADS}>
          {queues.map((kept) => (
            <Row key={kept.queue} kept={kept} due={goingBytes(due?.jobs ?? [], kept.queue)} />
          ))}
          <Sums queues={queues} due={due?.jobs ?? []} />
        </Table>
      )}
    </section>
  );
}

const shown = (amount: number | null): string => (amount === null ? '–' : amount === 0 ? '0' : bytes(amount));

function Row({ kept, due }: { kept: Kept; due: number }) {
  return (
    <tr class="hover:bg-raised/50">
      <Cell>
        <Link to={queuePath(kept.queue)} class="link">
          {kept.queue}
        </Link>
      </Cell>
      {PARTS.map(([part]) => (
        <Cell key={part} class="numbers text-right whitespace-nowrap max-sm:hidden">
          {shown(kept[part]?.bytes ?? null)}
        </Cell>
      ))}
      <Cell class="numbers text-right font-medium whitespace-nowrap">{shown(totalOf(kept))}</Cell>
      <Cell class={`numbers text-right whitespace-nowrap ${due > 0 ? 'text-warn' : ''}`}>{shown(due)}</Cell>
    </tr>
  );
}

function Sums({ queues, due }: { queues: readonly Kept[]; due: readonly Prunable[] }) {
  return (
    <tr class="bg-raised/50 font-medium">
      <Cell>all</Cell>
      {PARTS.map(([part]) => (
        <Cell key={part} class="numbers text-right whitespace-nowrap max-sm:hidden">
          {shown(sumOf(queues, part))}
        </Cell>
      ))}
      <Cell class="numbers text-right whitespace-nowrap">
        {shown(queues.reduce((sum, each) => sum + totalOf(each), 0))}
      </Cell>
      <Cell class="numbers text-right whitespace-nowrap">{shown(goingBytes(due, null))}</Cell>
    </tr>
  );
}
