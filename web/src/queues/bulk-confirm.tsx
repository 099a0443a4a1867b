/** Confirms a bulk action: counts the matching jobs, and asks what happens to their dependents. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { withQuery } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import type { Dependents } from '../job/dependents-choice.tsx';
import { DependentsChoice } from '../job/dependents-choice.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';

export type Action = 'cancel' | 'requeue' | 'delete';

export const LABELS: Readonly<Record<Action, string>> = { cancel: 'Cancel', requeue: 'Retry', delete: 'Delete' };
const EFFECT: Readonly<Record<Action, string>> = {
  cancel: 'Waiting jobs end at once; running ones are asked to stop.',
  requeue: 'Ended jobs return to their queue with their counters at zero. Other jobs are not changed.',
  delete:
    'The jobs are deleted with their history, logs and attachments. Running jobs are kept. This cannot be undone.',
};

interface Found {
  readonly count: number;
  /** The number of them that have dependents. */
  readonly awaited: number;
  readonly more: boolean;
}

interface BulkConfirmProps {
  readonly action: Action;
  readonly selected: readonly JobView[];
  readonly query: Readonly<Record<string, string>>;
  /** `dependents` is null if none of the jobs has dependents. */
  onConfirm(dependents: Dependents | null): void;
  onClose(): void;
}

export function BulkConfirm({ action, selected, query, onConfirm, onClose }: BulkConfirmProps) {
  const [dependents, select] = useState<Dependents>('leave');
  const found = useFound(selected, query);
  const number = found === undefined ? 'all that match' : numberOf(found, selected.length > 0);
  const isAsked = action === 'cancel' && (found?.awaited ?? 0) > 0;
  return (
    <ConfirmDialog
      title={`${LABELS[action]} ${number}?`}
      confirmLabel={`${LABELS[action]} ${number}`}
      kind={action === 'requeue' ? 'main' : 'danger'}
      isReady={found !== undefined}
      onConfirm={() => onConfirm(isAsked ? dependents : null)}
      onClose={onClose}
    >
      <p class="mb-2">{EFFECT[action]}</p>
      {found === undefined && <p class="text-soft">Counting …</p>}
      {found?.more && (
        <p class="mb-2 text-soft">More jobs match than one call handles; repeat the action for the rest.</p>
      )}
      {isAsked && (
        <DependentsChoice
          legend={`Other jobs depend on ${found?.awaited.toLocaleString('en')} of them:`}
          selected={dependents}
          select={select}
        />
      )}
    </ConfirmDialog>
  );
}

function useFound(selected: readonly JobView[], query: Readonly<Record<string, string>>): Found | undefined {
  const path = selected.length > 0 ? null : withQuery('api/jobs/matching', query);
  const { data } = useQuery<Found>(path, { concerns: () => false, everyMs: 60_000 });
  if (selected.length === 0) return data;
  return { count: selected.length, awaited: selected.filter(({ dependents }) => dependents > 0).length, more: false };
}

function numberOf({ count, more }: Found, isSelected: boolean): string {
  const text = count.toLocaleString('en');
  if (isSelected) return `${text} selected`;
  return more ? `the newest ${text} that match` : `all ${text} that match`;
}
