/** Actions of a schedule: run now, pause with a note, resume, edit, delete. */
import { useState } from 'preact/hooks';
import type { ScheduleView } from '../../../src/wire/schedule-view.ts';
import { call } from '../data/call.ts';
import { go, jobPath } from '../data/location.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { FIELD } from '../ui/field.tsx';

interface ActionsProps {
  readonly schedule: ScheduleView;
  onDone(): void;
  onEdit(): void;
}

export const schedulePath = (name: string, verb = ''): string =>
  `api/schedules/${encodeURIComponent(name)}${verb === '' ? '' : `/${verb}`}`;

export function ScheduleActions({ schedule, onDone, onEdit }: ActionsProps) {
  const { name, queue, isPaused } = schedule;
  const [dialog, setDialog] = useState<'pause' | 'delete' | null>(null);
  const { error, run } = useAction();
  const runNow = async () => {
    const { id } = await call<{ id: string }>(schedulePath(name, 'run'), { method: 'POST' });
    go(jobPath(queue, id));
  };
  const resume = async () => {
    await call(schedulePath(name, 'resume'), { method: 'POST' });
    onDone();
  };
  const end = () => {
    setDialog(null);
    onDone();
  };
  return (
    <div class="flex justify-end gap-1.5">
      <Button onClick={() => void run(runNow)}>Run now</Button>
      {isPaused ? (
        <Button onClick={() => void run(resume)}>Resume</Button>
      ) : (
        <Button onClick={() => setDialog('pause')}>Pause …</Button>
      )}
      <Button onClick={onEdit}>Edit …</Button>
      <Button kind="danger" onClick={() => setDialog('delete')}>
        Delete …
      </Button>
      {dialog === 'pause' && <PauseDialog name={name} onDone={end} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && <DeleteDialog name={name} onDone={end} onClose={() => setDialog(null)} />}
      <ErrorMessage error={error} />
    </div>
  );
}

interface AskedProps {
  readonly name: string;
  onDone(): void;
  onClose(): void;
}

function PauseDialog({ name, onDone, onClose }: AskedProps) {
  const [note, setNote] = useState('');
  const { error, run } = useAction();
  const pause = async () => {
    await call(schedulePath(name, 'pause'), { method: 'POST', body: note === '' ? {} : { note } });
    onDone();
  };
  return (
    <ConfirmDialog
      title={`Pause ${name}?`}
      confirmLabel="Pause"
      kind="main"
      onConfirm={() => void run(pause)}
      onClose={onClose}
    >
      <p>The schedule adds no jobs until it is resumed. Run times within the pause are not made up.</p>
      <label class="mt-3 block text-sm">
        Note
        <input class={FIELD} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <ErrorMessage error={error} />
    </ConfirmDialog>
  );
}

function DeleteDialog({ name, onDone, onClose }: AskedProps) {
  const { error, run } = useAction();
  const remove = async () => {
    await call(schedulePath(name), { method: 'DELETE' });
    onDone();
  };
  return (
    <ConfirmDialog title={`Delete ${name}?`} confirmLabel="Delete" onConfirm={() => void run(remove)} onClose={onClose}>
      <p>The jobs that it added are kept.</p>
      <ErrorMessage error={error} />
    </ConfirmDialog>
  );
}
