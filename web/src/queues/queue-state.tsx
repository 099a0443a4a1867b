/** Pausing a queue and letting it go on, with a note for those who wonder why. */
import { useState } from 'preact/hooks';
import type { QueueView } from '../../../src/wire/views.ts';
import { CallError, call } from '../data/call.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Trouble } from '../ui/trouble.tsx';

type Verb = 'pause' | 'resume' | 'down';

const EFFECT: Readonly<Record<Verb, string>> = {
  pause: 'Jobs are taken in, and none is started. Running jobs are not touched.',
  down: 'New jobs are refused too. Running jobs are not touched.',
  resume: 'Jobs are started again.',
};

export function QueueState({ queue, onDone }: { queue: QueueView; onDone: () => void }) {
  const [asking, ask] = useState<Verb | null>(null);
  const [note, setNote] = useState('');
  const [error, setError] = useState<CallError | null>(null);
  const act = async (verb: Verb) => {
    try {
      await call(`api/queues/${encodeURIComponent(queue.name)}/${verb}`, {
        method: 'POST',
        body: note === '' ? {} : { note },
      });
      ask(null);
      onDone();
    } catch (problem) {
      if (!(problem instanceof CallError)) throw problem;
      setError(problem);
    }
  };
  const verbs: readonly Verb[] = queue.settings.state === 'up' ? ['pause', 'down'] : ['resume'];
  return (
    <>
      {verbs.map((verb) => (
        <Button key={verb} onClick={() => (verb === 'resume' ? void act(verb) : ask(verb))}>
          {{ pause: 'Pause …', down: 'Take down …', resume: 'Resume' }[verb]}
        </Button>
      ))}
      {asking !== null && (
        <Dialog title={`${asking === 'pause' ? 'Pause' : 'Take down'} ${queue.name}?`} onClose={() => ask(null)}>
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
          <div class="mt-4 flex justify-end gap-2">
            <Button onClick={() => ask(null)}>No</Button>
            <Button kind="main" onClick={() => void act(asking)}>
              {asking === 'pause' ? 'Pause' : 'Take down'}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
