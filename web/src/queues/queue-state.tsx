/** Pausing a queue and letting it go on, with a note for those who wonder why. */
import { useState } from 'preact/hooks';
import type { QueueView } from '../../../src/wire/views.ts';
import { call } from '../data/call.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Question } from '../ui/question.tsx';
import { Trouble } from '../ui/trouble.tsx';

type Verb = 'pause' | 'resume' | 'down';

const VERBS: Readonly<Record<Verb, string>> = { pause: 'Pause', resume: 'Resume', down: 'Take down' };
const EFFECT: Readonly<Record<Verb, string>> = {
  pause: 'Jobs are taken in, and none is started. Running jobs are not touched.',
  down: 'New jobs are refused too. Running jobs are not touched.',
  resume: 'Jobs are started again.',
};

export function QueueState({ queue, onDone }: { queue: QueueView; onDone: () => void }) {
  const [asking, ask] = useState<Verb | null>(null);
  const [note, setNote] = useState('');
  const { error, act } = useAct();
  const say = async (verb: Verb) => {
    const body = note === '' ? {} : { note };
    await call(`api/queues/${encodeURIComponent(queue.name)}/${verb}`, { method: 'POST', body });
    ask(null);
    onDone();
  };
  const verbs: readonly Verb[] = queue.settings.state === 'up' ? ['pause', 'down'] : ['resume'];
  return (
    <>
      {verbs.map((verb) => (
        <Button key={verb} onClick={() => (verb === 'resume' ? void act(() => say(verb)) : ask(verb))}>
          {VERBS[verb]}
          {verb === 'resume' ? '' : ' …'}
        </Button>
      ))}
      {asking !== null && (
        <Question
          title={`${VERBS[asking]} ${queue.name}?`}
          yes={VERBS[asking]}
          no="No"
          kind="main"
          onYes={() => void act(() => say(asking))}
          onNo={() => ask(null)}
        >
          <p>{EFFECT[asking]}</p>
          <label class="mt-3 block text-sm">
            A note for others
            <input
              class="w-full rounded-md border border-line bg-ground px-2 py-1"
              value={note}
              onInput={(event) => setNote(event.currentTarget.value)}
            />
          </label>
          <Trouble error={error} />
        </Question>
      )}
    </>
  );
}
