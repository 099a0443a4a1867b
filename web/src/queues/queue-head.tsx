/** The head of a queue's page: its name and state, what can be done with it, and what keeps it from being worked. */
import { useState } from 'preact/hooks';
import type { QueueView } from '../../../src/wire/views.ts';
import { useMay } from '../data/me.ts';
import { Button } from '../ui/button.tsx';
import { Chip } from '../ui/chip.tsx';
import { NewJob } from './new-job.tsx';
import { QueueSettings } from './queue-settings.tsx';
import { QueueState } from './queue-state.tsx';

interface QueueHeadProps {
  readonly name: string;
  /** Undefined while it is on its way. */
  readonly view: QueueView | undefined;
  onDone(): void;
}

export function QueueHead({ name, view, onDone }: QueueHeadProps) {
  const [open, setOpen] = useState<'job' | 'settings' | null>(null);
  const mayOperate = useMay('operate') && view !== undefined;
  const close = () => setOpen(null);
  const changed = () => {
    close();
    onDone();
  };
  return (
    <>
      <header class="flex flex-wrap items-center gap-3">
        <h1 class="text-xl font-semibold break-all">{name}</h1>
        {view !== undefined && <Chip word={view.settings.state} title={view.settings.note ?? undefined} />}
        <div class="ml-auto flex flex-wrap gap-2">
          {mayOperate && <Button onClick={() => setOpen('settings')}>Settings …</Button>}
          {mayOperate && <QueueState queue={view} onDone={onDone} />}
          {useMay('submit') && (
            <Button kind="main" onClick={() => setOpen('job')}>
              New job …
            </Button>
          )}
        </div>
      </header>
      {view?.problem != null && (
        <p class="rounded-md border border-bad bg-bad-ground px-3 py-2 break-words text-bad">{view.problem}</p>
      )}
      {view?.settings.note != null && <p class="break-words text-soft">{view.settings.note}</p>}
      {open === 'settings' && view !== undefined && <QueueSettings queue={view} onClose={close} onDone={changed} />}
      {open === 'job' && <NewJob queue={name} onClose={close} />}
    </>
  );
}
