/** One action for many: for those that were chosen, or for all that match, with their number said before. */
import { useState } from 'preact/hooks';
import { call } from '../data/call.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Question } from '../ui/question.tsx';
import { Trouble } from '../ui/trouble.tsx';

type Action = 'cancel' | 'requeue' | 'delete';
interface BulkResult {
  readonly ok: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly more: boolean;
}

interface BulkProps {
  readonly ids: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** How many match, as far as that is known without looking at each. */
  readonly matching: number | null;
  onDone(): void;
}

const WORDS: Readonly<Record<Action, string>> = {
  cancel: 'Cancel',
  requeue: 'Run again',
  delete: 'Delete',
};
const EFFECT: Readonly<Record<Action, string>> = {
  cancel: 'Waiting jobs end at once; running ones are asked to stop.',
  requeue: 'Ended jobs wait again, with their counters at zero. Others stay as they are.',
  delete: 'They go with their history, logs and attachments, for good. Running ones stay.',
};

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

export function BulkActions({ ids, query, matching, onDone }: BulkProps) {
  const [asking, ask] = useState<Action | null>(null);
  const [said, say] = useState<string | null>(null);
  const { error, act } = useAct();
  const isChosen = ids.length > 0;
  const number = numberWords(ids.length, matching);
  const doIt = async (action: Action) => {
    ask(null);
    const body = isChosen ? { ids } : { query };
    const { ok, refused, more } = await call<BulkResult>(`api/jobs/${action}`, { method: 'POST', body });
    const left = Object.entries(refused).map(([why, count]) => `${count} not (${why})`);
    say([`${ok} done`, ...left, ...(more ? ['there are more: do it again'] : [])].join(', '));
    onDone();
  };
  return (
    <div class="flex flex-wrap items-center gap-2">
      <span class="text-sm text-soft">With {number}:</span>
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
        <Question
          title={`${WORDS[asking]} ${number}?`}
          yes={`${WORDS[asking]} ${number}`}
          no="No"
          kind={asking === 'requeue' ? 'main' : 'danger'}
          onYes={() => void act(() => doIt(asking))}
          onNo={() => ask(null)}
        >
          <p>{EFFECT[asking]}</p>
        </Question>
      )}
    </div>
  );
}
