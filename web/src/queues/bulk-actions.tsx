/** One action for many: for those that were chosen, or for all that match, with their number said before. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { call } from '../data/call.ts';
import { useAct } from '../data/use-act.ts';
import type { Dependents } from '../job/about-dependents.tsx';
import { Button } from '../ui/button.tsx';
import { Trouble } from '../ui/trouble.tsx';
import type { Action } from './bulk-question.tsx';
import { BulkQuestion, WORDS } from './bulk-question.tsx';

interface BulkResult {
  readonly ok: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly more: boolean;
}

interface BulkProps {
  readonly chosen: readonly JobView[];
  readonly query: Readonly<Record<string, string>>;
  /** How many match, as far as that is known without looking at each. */
  readonly matching: number | null;
  onDone(): void;
}

/** What can come of it for jobs of this state; all of it where there may be some of each. */
function actionsFor(state: string | undefined): readonly Action[] {
  if (state === undefined) return ['cancel', 'requeue', 'delete'];
  if (state === 'running') return ['cancel'];
  return state === 'waiting' || state === 'draft' ? ['cancel', 'delete'] : ['requeue', 'delete'];
}

function numberWords(chosen: number, matching: number | null): string {
  if (chosen > 0) return `${chosen} chosen`;
  return matching === null ? 'all that match' : `all ${matching.toLocaleString('en')} that match`;
}

export function BulkActions({ chosen, query, matching, onDone }: BulkProps) {
  const [asking, ask] = useState<Action | null>(null);
  const [said, say] = useState<string | null>(null);
  const { error, act } = useAct();
  const doIt = async (action: Action, dependents: Dependents | null) => {
    ask(null);
    const which = chosen.length > 0 ? { ids: chosen.map(({ id }) => id) } : { query };
    const body = { ...which, ...(dependents !== null && { dependents }) };
    say(wordsOf(await call<BulkResult>(`api/jobs/${action}`, { method: 'POST', body })));
    onDone();
  };
  return (
    <div class="flex flex-wrap items-center gap-2">
      <span class="text-sm text-soft">With {numberWords(chosen.length, matching)}:</span>
      {actionsFor(query['state']).map((action) => (
        <Button key={action} onClick={() => ask(action)}>
          {WORDS[action]} …
        </Button>
      ))}
      <span role="status" class="text-sm text-soft">
        {said}
      </span>
      <Trouble error={error} />
      {asking !== null && (
        <BulkQuestion
          action={asking}
          {...{ chosen, query }}
          onYes={(dependents) => void act(() => doIt(asking, dependents))}
          onNo={() => ask(null)}
        />
      )}
    </div>
  );
}

function wordsOf({ ok, refused, more }: BulkResult): string {
  const left = Object.entries(refused).map(([why, count]) => `${count.toLocaleString('en')} not (${why})`);
  return [`${ok.toLocaleString('en')} done`, ...left, ...(more ? ['there are more: do it again'] : [])].join(', ');
}
