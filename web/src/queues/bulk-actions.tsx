/** Selects jobs, or all jobs that match the filters; then offers bulk actions on them. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { call } from '../data/call.ts';
import { useAction } from '../data/use-action.ts';
import type { Dependents } from '../job/dependents-choice.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import type { Action } from './bulk-confirm.tsx';
import { BulkConfirm, LABELS } from './bulk-confirm.tsx';

interface BulkResult {
  readonly ok: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly more: boolean;
}

interface BulkProps {
  readonly selected: readonly JobView[];
  readonly query: Readonly<Record<string, string>>;
  /** The number of matching jobs, if the counts give it. */
  readonly matching: number | null;
  onSelectAll(): void;
  onClear(): void;
  onDone(): void;
}

/** The actions that apply to jobs of this state; all actions without a state filter. */
function actionsFor(state: string | undefined): readonly Action[] {
  if (state === undefined) return ['cancel', 'requeue', 'delete'];
  if (state === 'running') return ['cancel'];
  return state === 'waiting' || state === 'draft' ? ['cancel', 'delete'] : ['requeue', 'delete'];
}

function countText(selected: number, matching: number | null): string {
  if (selected > 0) return `${selected} selected`;
  return matching === null ? 'all that match' : `all ${matching.toLocaleString('en')} that match`;
}

export function BulkActions({ selected, query, matching, onSelectAll, onClear, onDone }: BulkProps) {
  const [dialog, setDialog] = useState<Action | null>(null);
  const [result, setResult] = useState<string | null>(null);
  const [isAll, selectAll] = useState(false);
  const { error, run } = useAction();
  const apply = async (action: Action, dependents: Dependents | null) => {
    setDialog(null);
    const which = selected.length > 0 ? { ids: selected.map(({ id }) => id) } : { query };
    const body = { ...which, ...(dependents !== null && { dependents }) };
    setResult(textOf(await call<BulkResult>(`api/jobs/${action}`, { method: 'POST', body })));
    selectAll(false);
    onDone();
  };
  const clear = () => {
    selectAll(false);
    onClear();
  };
  return (
    <div class="flex flex-wrap items-center gap-2">
      {selected.length === 0 && !isAll ? (
        <>
          <Button onClick={onSelectAll}>Select all</Button>
          <Button onClick={() => selectAll(true)}>Select {countText(0, matching)}</Button>
        </>
      ) : (
        <>
          <span class="text-sm font-medium">With {countText(selected.length, matching)}:</span>
          {actionsFor(query['state']).map((action) => (
            <Button key={action} onClick={() => setDialog(action)}>
              {LABELS[action]} …
            </Button>
          ))}
          <button type="button" class="link text-sm" onClick={clear}>
            clear selection
          </button>
        </>
      )}
      <span role="status" class="text-sm text-soft">
        {result}
      </span>
      <ErrorMessage error={error} />
      {dialog !== null && (
        <BulkConfirm
          action={dialog}
          {...{ selected, query }}
          onConfirm={(dependents) => void run(() => apply(dialog, dependents))}
          onClose={() => setDialog(null)}
        />
      )}
    </div>
  );
}

function textOf({ ok, refused, more }: BulkResult): string {
  const left = Object.entries(refused).map(([why, count]) => `${count.toLocaleString('en')} refused (${why})`);
  return [`${ok.toLocaleString('en')} done`, ...left, ...(more ? ['more jobs match: repeat the action'] : [])].join(
    ', ',
  );
}
