/** What each queue keeps, in bytes: its ended jobs, their results, logs and files; and how much of it retention lets go. */

import { useState } from 'preact/hooks';
import { bytes } from '../../../src/wire/spans.ts';
import { queuePath } from '../data/address.ts';
import { useQuery } from '../data/use-query.ts';
import { Link } from '../ui/link.tsx';
import { Cell, Table } from '../ui/table.tsx';
import type { Kept, Prunable } from './kept-bytes.ts';
import { goingBytes, PARTS, sumOf, totalOf } from './kept-bytes.ts';

const SELDOM = { concerns: () => false, everyMs: 30_000 };
const RARELY = { concerns: () => false, everyMs: 600_000 };
const RIGHT = 'text-right';
const HEADS = [
  'Queue',
  ...PARTS.map(([, words]) => ({ text: words, class: `${RIGHT} max-sm:hidden` })),
  { text: 'Together', class: RIGHT },
];
const DUE = { text: 'Due to go', class: RIGHT };

export function Storage() {
  const { data } = useQuery<{ queues: readonly Kept[] }>('api/storage', SELDOM);
  // Every kept job is looked at for it: only for who wants to know.
  const [isAsked, ask] = useState(false);
  const { data: due } = useQuery<{ jobs: readonly Prunable[] }>(isAsked ? 'api/prunable' : null, RARELY);
  if (data === undefined) return null;
  const queues = [...data.queues].sort((a, b) => totalOf(b) - totalOf(a));
  return (
    <section aria-labelledby="storage">
      <h2 id="storage" class="font-semibold">
        Storage
      </h2>
      <p class="mb-2 text-soft">
        What ended jobs take up, by queue. How long they are kept is the queue's setting retention; what is due to go by
        it goes by itself.{' '}
        {!isAsked && (
          <button type="button" class="link underline" onClick={() => ask(true)}>
            What is due to go now?
          </button>
        )}
      </p>
      {queues.length === 0 ? (
        <p class="text-soft">No job has ended yet, so nothing is kept.</p>
      ) : (
        <Table caption="Storage by queue" heads={due === undefined ? HEADS : [...HEADS, DUE]}>
          {queues.map((kept) => (
            <Row key={kept.queue} kept={kept} due={due && goingBytes(due.jobs, kept.queue)} />
          ))}
          <Sums queues={queues} due={due && goingBytes(due.jobs, null)} />
        </Table>
      )}
    </section>
  );
}

const shown = (amount: number | null): string => (amount === null ? '–' : amount === 0 ? '0' : bytes(amount));

function Row({ kept, due }: { kept: Kept; due: number | undefined }) {
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
      <Due bytes={due} />
    </tr>
  );
}

/** Nothing where nobody asked. */
function Due({ bytes: due }: { bytes: number | undefined }) {
  if (due === undefined) return null;
  return <Cell class={`numbers text-right whitespace-nowrap ${due > 0 ? 'text-warn' : ''}`}>{shown(due)}</Cell>;
}

function Sums({ queues, due }: { queues: readonly Kept[]; due: number | undefined }) {
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
      <Due bytes={due} />
    </tr>
  );
}
