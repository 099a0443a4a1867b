/** Pauses, resumes, disables and enables a queue, with an optional note. */
import { useState } from 'preact/hooks';
import type { QueueView } from '../../../src/wire/views.ts';
import { call } from '../data/call.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';

type Verb = 'pause' | 'resume' | 'down';

/** The label of a verb; `resume` also enables a disabled queue. */
function labelOf(verb: Verb, queue: QueueView): string {
  if (verb === 'resume') return queue.settings.state === 'down' ? 'Enable queue' : 'Resume';
  return { pause: 'Pause', down: 'Disable queue' }[verb];
}

const EFFECT: Readonly<Record<Verb, string>> = {
  pause: 'The queue accepts jobs and starts none. Running jobs continue.',
  down: 'The queue refuses new jobs and starts none. Running jobs continue.',
  resume: 'The queue starts jobs again.',
};

export function QueueState({ queue, onDone }: { queue: QueueView; onDone: () => void }) {
  const [dialog, setDialog] = useState<Verb | null>(null);
  const [note, setNote] = useState('');
  const { error, run } = useAction();
  const send = async (verb: Verb) => {
    const body = note === '' ? {} : { note };
    await call(`api/queues/${encodeURIComponent(queue.name)}/${verb}`, { method: 'POST', body });
    setDialog(null);
    onDone();
  };
  const verbs: readonly Verb[] = queue.settings.state === 'up' ? ['pause', 'down'] : ['resume'];
  return (
    <>
      {verbs.map((verb) => (
        <Button key={verb} onClick={() => (verb === 'resume' ? void run(() => send(verb)) : setDialog(verb))}>
          {labelOf(verb, queue)}
          {verb === 'resume' ? '' : ' …'}
        </Button>
      ))}
      {dialog !== null && (
        <ConfirmDialog
          title={`${labelOf(dialog, queue)} ${queue.name}?`}
          confirmLabel={labelOf(dialog, queue)}
          kind="main"
          onConfirm={() => void run(() => send(dialog))}
          onClose={() => setDialog(null)}
        >
          <p>{EFFECT[dialog]}</p>
          <label class="mt-3 block text-sm">
            Note
            <input
              class="w-full rounded-md border border-line bg-ground px-2 py-1"
              value={note}
              onInput={(event) => setNote(event.currentTarget.value)}
            />
          </label>
          <ErrorMessage error={error} />
        </ConfirmDialog>
      )}
    </>
  );
}
