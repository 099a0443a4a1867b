/** The header of a queue's page: name, state, actions, and problems. */
import { useState } from 'preact/hooks';
import { NO_WORKER } from '../../../src/core/limits/without-worker.ts';
import type { QueueView } from '../../../src/wire/views.ts';
import { useHasRole } from '../data/me.ts';
import { useHasNoWorker } from '../data/overview.ts';
import { Breadcrumbs } from '../ui/breadcrumbs.tsx';
import { Button } from '../ui/button.tsx';
import { QueueChip } from '../ui/chip.tsx';
import { NewJob } from './new-job.tsx';
import { QueueSettings } from './queue-settings.tsx';
import { QueueState } from './queue-state.tsx';

interface QueueHeadProps {
  readonly name: string;
  /** Undefined while loading. */
  readonly view: QueueView | undefined;
  onDone(): void;
}

export function QueueHead({ name, view, onDone }: QueueHeadProps) {
  const [open, setOpen] = useState<'job' | 'settings' | null>(null);
  const canOperate = useHasRole('operate') && view !== undefined;
  const isWithoutWorker = useHasNoWorker(name);
  const close = () => setOpen(null);
  const changed = () => {
    close();
    onDone();
  };
  return (
    <>
      <header class="flex flex-wrap items-center gap-x-3 gap-y-1">
        <div class="w-full">
          <Breadcrumbs crumbs={[['Queues', 'queues']]} />
        </div>
        <h1 class="text-xl font-semibold break-all">{name}</h1>
        {view !== undefined && (
          <QueueChip
            state={view.settings.state}
            isWithoutWorker={isWithoutWorker}
            title={view.settings.note ?? undefined}
          />
        )}
        <div class="ml-auto flex flex-wrap gap-2">
          {canOperate && <Button onClick={() => setOpen('settings')}>Settings …</Button>}
          {canOperate && <QueueState queue={view} onDone={onDone} />}
          {useHasRole('submit') && (
            <Button kind="main" onClick={() => setOpen('job')}>
              New job …
            </Button>
          )}
        </div>
      </header>
      {view?.problem != null && (
        <p class="rounded-md border border-bad bg-bad-ground px-3 py-2 break-words text-bad">{view.problem}</p>
      )}
      {isWithoutWorker && (
        <p class="rounded-md border border-warn bg-warn-ground px-3 py-2 break-words text-warn">
          Jobs wait, and {NO_WORKER}. Start a process that works on it, or give the queue a script.
        </p>
      )}
      {view?.settings.note != null && <p class="break-words text-soft">{view.settings.note}</p>}
      {open === 'settings' && view !== undefined && <QueueSettings queue={view} onClose={close} onDone={changed} />}
      {open === 'job' && <NewJob queue={name} onClose={close} />}
    </>
  );
}
