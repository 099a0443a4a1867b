/** The audit log, newest first: what was changed, from which value to which, by which name. */
import { useEffect, useState } from 'preact/hooks';
import type { AuditChange, AuditRow } from '../../../src/wire/audit/audit-row.ts';
import { localIso } from '../../../src/wire/spans.ts';
import { CallError, call } from '../data/call.ts';
import { jobPath, queuePath } from '../data/location.ts';
import { Link } from '../ui/link.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { actorText, subjectText } from './audit-text.ts';

const SHOWN = 100;
const WIDE = 'max-sm:hidden';

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
      <Table caption="Audit log" heads={['What', { text: 'By', class: WIDE }, { text: 'Time', class: WIDE }, 'Result']}>
        {rows.map((row, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other key and never change
          <Row key={place} row={row} />
        ))}
      </Table>
    </section>
  );
}

function Row({ row }: { row: AuditRow }) {
  const { verb, changes = [], actor, from, at, result } = row;
  return (
    <tr>
      <Cell class="break-words">
        <span title={`${row.action} ${row.target}`}>
          {verb} <Subject row={row} />
        </span>
        {changes.map((change) => (
          <Change key={change.name} change={change} />
        ))}
        <p class="text-xs text-soft sm:hidden">
          {actorText(actor)} · {localIso(at)}
        </p>
      </Cell>
      <Cell class={`max-w-60 break-words ${WIDE}`}>
        {actorText(actor)}
        {from !== '' && from !== actor && <span class="block text-xs text-soft">{from}</span>}
      </Cell>
      <Cell class={`numbers whitespace-nowrap ${WIDE}`}>{localIso(at)}</Cell>
      <Cell class={result === 'ok' ? 'text-soft' : 'text-bad'}>{result}</Cell>
    </tr>
  );
}

function Subject({ row }: { row: AuditRow }) {
  const text = subjectText(row);
  const { kind, key, queue } = row.subject ?? { kind: '', key: '', queue: null };
  const path = kind === 'queue' && key !== '*' ? queuePath(key) : queue === null ? null : jobPath(queue, key);
  if (path === null) return <span class="font-medium break-all">{text}</span>;
  return (
    <Link to={path} class="link break-all">
      {text}
    </Link>
  );
}

function Change({ change: { name, from, to } }: { change: AuditChange }) {
  return (
    <p class="text-xs break-all text-soft">
      {name}: {from !== null && <del class="text-soft">{from}</del>}
      {from !== null && ' → '}
      <span class="text-ink">{to ?? 'not set'}</span>
    </p>
  );
}

async function lastRows(signal: AbortSignal): Promise<readonly AuditRow[]> {
  return (await call<{ rows: readonly AuditRow[] }>('api/audit', { query: { limit: SHOWN }, signal })).rows;
}
