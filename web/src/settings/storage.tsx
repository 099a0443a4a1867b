/** Storage by queue in bytes: ended jobs, results, logs and attachments; and how much is past retention. */

import { useState } from 'preact/hooks';
import { bytes } from '../../../src/wire/spans.ts';
import { queuePath } from '../data/location.ts';
import { useQuery } from '../data/use-query.ts';
import { Link } from '../ui/link.tsx';
import { Cell, Table } from '../ui/table.tsx';
import type { Kept, Prunable } from './storage-sums.ts';
import { expiredBytes, PARTS, sumOf, totalOf } from './storage-sums.ts';

const SELDOM = { concerns: () => false, everyMs: 30_000 };
const RARELY = { concerns: () => false, everyMs: 600_000 };
const RIGHT = 'text-right';
const HEADS = [
  'Queue',
  ...PARTS.map(([, label]) => ({ text: label, class: `${RIGHT} max-sm:hidden` })),
  { text: 'Total', class: RIGHT },
];
const DUE = { text: 'Past retention', class: RIGHT };

export function Storage() {
  const { data } = useQuery<{ queues: readonly Kept[] }>('api/storage', SELDOM);
  // The node scans every ended job for it, so it is fetched on demand.
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
        Storage used by ended jobs. The setting retention of a queue says how long they are kept; jobs past it are
        deleted automatically.{' '}
        {!isAsked && (
          <button type="button" class="link underline" onClick={() => ask(true)}>
            Show what is past retention
          </button>
        )}
      </p>
      {queues.length === 0 ? (
        <p class="text-soft">No job has ended yet.</p>
      ) : (
        <Table caption="Storage by queue" stacks heads={due === undefined ? HEADS : [...HEADS, DUE]}>
          {queues.map((kept) => (
            <Row key={kept.queue} kept={kept} due={due && expiredBytes(due.jobs, kept.queue)} />
          ))}
          <Sums queues={queues} due={due && expiredBytes(due.jobs, null)} />
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

/** Empty until requested. */
function Due({ bytes: due }: { bytes: number | undefined }) {
  if (due === undefined) return null;
  return <Cell class={`numbers text-right whitespace-nowrap ${due > 0 ? 'text-warn' : ''}`}>{shown(due)}</Cell>;
}

function Sums({ queues, due }: { queues: readonly Kept[]; due: number | undefined }) {
  return (
    <tr class="bg-raised/50 font-medium">
      <Cell>Total</Cell>
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
