/** The history of a job. */

import type { HistoryRow } from '../../../src/core/job/history.ts';
import { shownNote } from '../../../src/core/job/history.ts';
import { localIso, span } from '../../../src/wire/spans.ts';
import { useQuery } from '../data/use-query.ts';
import { Cell, Table } from '../ui/table.tsx';

export function useHistory(id: string): readonly HistoryRow[] {
  const { data } = useQuery<{ history: readonly HistoryRow[] }>(`api/jobs/${encodeURIComponent(id)}/history`, {
    concerns: (event) => event.type !== 'queue' && event.id === id && event.type !== 'progress',
  });
  return data?.history ?? [];
}

export function JobHistory({ rows }: { rows: readonly HistoryRow[] }) {
  return (
    <section aria-labelledby="history">
      <h2 id="history" class="mb-2 font-semibold">
        History
      </h2>
      <Table caption="History of the job" stacks heads={['Time', 'After', 'Event', 'State', 'Attempt', 'By', 'Note']}>
        {rows.map((row, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: history is append-only
          <tr key={place}>
            <Cell class="numbers whitespace-nowrap">{localIso(row.at)}</Cell>
            <Cell class="numbers whitespace-nowrap text-soft">
              {place === 0 ? '' : span(row.at - (rows[place - 1]?.at ?? row.at))}
            </Cell>
            <Cell class="font-medium">{row.event}</Cell>
            <Cell>{row.state}</Cell>
            <Cell class="numbers">{row.attempt === 0 ? '' : row.attempt}</Cell>
            <Cell class="max-w-52 truncate text-soft">{row.by ?? ''}</Cell>
            <Cell class="max-w-md min-w-56 break-words">{shownNote(row) ?? ''}</Cell>
          </tr>
        ))}
      </Table>
    </section>
  );
}
