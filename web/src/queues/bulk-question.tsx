/** The question before an action on many: how many there are is counted first, and what becomes of those that wait for them. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { withQuery } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import type { Dependents } from '../job/about-dependents.tsx';
import { AboutDependents } from '../job/about-dependents.tsx';
import { Question } from '../ui/question.tsx';

export type Action = 'cancel' | 'requeue' | 'delete';

export const WORDS: Readonly<Record<Action, string>> = { cancel: 'Cancel', requeue: 'Run again', delete: 'Delete' };
const EFFECT: Readonly<Record<Action, string>> = {
  cancel: 'Waiting jobs end at once; running ones are asked to stop.',
  requeue: 'Ended jobs wait again, with their counters at zero. Others stay as they are.',
  delete: 'They go with their history, logs and attachments, for good. Running ones stay.',
};

interface Found {
  readonly count: number;
  /** How many of them others wait for. */
  readonly awaited: number;
  readonly more: boolean;
}

interface BulkQuestionProps {
  readonly action: Action;
  readonly chosen: readonly JobView[];
  readonly query: Readonly<Record<string, string>>;
  /** Null where nobody waits for any of them. */
  onYes(dependents: Dependents | null): void;
  onNo(): void;
}

export function BulkQuestion({ action, chosen, query, onYes, onNo }: BulkQuestionProps) {
  const [dependents, choose] = useState<Dependents>('leave');
  const found = useFound(chosen, query);
  const number = found === undefined ? 'all that match' : numberOf(found, chosen.length > 0);
  const isAsked = action === 'cancel' && (found?.awaited ?? 0) > 0;
  return (
    <Question
      title={`${WORDS[action]} ${number}?`}
      yes={`${WORDS[action]} ${number}`}
      no="No"
      kind={action === 'requeue' ? 'main' : 'danger'}
      isReady={found !== undefined}
      onYes={() => onYes(isAsked ? dependents : null)}
      onNo={onNo}
    >
      <p class="mb-2">{EFFECT[action]}</p>
      {found === undefined && <p class="text-soft">Counting …</p>}
      {found?.more && <p class="mb-2 text-soft">More match than one call takes on; it can be done again.</p>}
      {isAsked && (
        <AboutDependents
          words={`Other jobs wait for ${found?.awaited.toLocaleString('en')} of them, and`}
          chosen={dependents}
          choose={choose}
        />
      )}
    </Question>
  );
}

function useFound(chosen: readonly JobView[], query: Readonly<Record<string, string>>): Found | undefined {
  const path = chosen.length > 0 ? null : withQuery('api/jobs/matching', query);
  const { data } = useQuery<Found>(path, { concerns: () => false, everyMs: 60_000 });
  if (chosen.length === 0) return data;
  return { count: chosen.length, awaited: chosen.filter(({ dependents }) => dependents > 0).length, more: false };
}

function numberOf({ count, more }: Found, isChosen: boolean): string {
  const words = count.toLocaleString('en');
  if (isChosen) return `${words} chosen`;
  return more ? `the newest ${words} that match` : `all ${words} that match`;
}
