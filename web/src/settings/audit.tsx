/** The audit log, newest first. */
import { useEffect, useState } from 'preact/hooks';
import { localIso } from '../../../src/wire/spans.ts';
import { CallError, call } from '../data/call.ts';
import { Cell, Table } from '../ui/table.tsx';

interface AuditRow {
  readonly at: number;
  readonly actor: string;
  readonly from: string;
  readonly action: string;
  readonly target: string;
  readonly status: number;
  readonly result: string;
}

const SHOWN = 100;

export function Audit() {
  const [rows, setRows] = useState<readonly AuditRow[] | null>(null);
  useEffect(() => {
    const left = new AbortController();
    lastRows(left.signal).then(setRows, (error: unknown) => {
      if (!(error instanceof CallError) && !left.signal.aborted) throw error;
    });
    return () => left.abort();
  }, []);
  if (rows === null) return null;
  return (
    <section aria-labelledby="audit">
      <h2 id="audit" class="mb-2 font-semibold">
        Audit log
      </h2>
      <Table caption="Audit log" heads={['Time', 'Actor', 'From', 'Action', 'Target', 'Result']}>
        {rows.map((row, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other key and never change
          <tr key={place}>
            <Cell class="numbers whitespace-nowrap">{localIso(row.at)}</Cell>
            <Cell class="max-w-40 truncate">{row.actor}</Cell>
            <Cell class="max-w-40 truncate">{row.from}</Cell>
            <Cell>{row.action}</Cell>
            <Cell class="max-w-md truncate font-mono text-xs">{row.target}</Cell>
            <Cell class={row.status >= 400 ? 'text-bad' : ''}>{row.result}</Cell>
          </tr>
        ))}
      </Table>
    </section>
  );
}

async function lastRows(signal: AbortSignal): Promise<readonly AuditRow[]> {
  return (await call<{ rows: readonly AuditRow[] }>('api/audit', { query: { limit: SHOWN }, signal })).rows;
}
