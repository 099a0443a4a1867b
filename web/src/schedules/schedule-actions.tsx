/** What one can do with a schedule: run it now, pause it with a note, let it go on, change it, delete it. */
import { useState } from 'preact/hooks';
import type { ScheduleView } from '../../../src/wire/schedule-view.ts';
import { go, jobPath } from '../data/address.ts';
import { call } from '../data/call.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { FIELD } from '../ui/field.tsx';
import { Question } from '../ui/question.tsx';
import { Trouble } from '../ui/trouble.tsx';

interface ActionsProps {
  readonly schedule: ScheduleView;
  onDone(): void;
  onEdit(): void;
}

export const schedulePath = (name: string, verb = ''): string =>
  `api/schedules/${encodeURIComponent(name)}${verb === '' ? '' : `/${verb}`}`;

export function ScheduleActions({ schedule, onDone, onEdit }: ActionsProps) {
  const { name, queue, isPaused } = schedule;
  const [asking, ask] = useState<'pause' | 'delete' | null>(null);
  const { error, act } = useAct();
  const runNow = async () => {
    const { id } = await call<{ id: string }>(schedulePath(name, 'run'), { method: 'POST' });
    go(jobPath(queue, id));
  };
  const resume = async () => {
    await call(schedulePath(name, 'resume'), { method: 'POST' });
    onDone();
  };
  const end = () => {
    ask(null);
    onDone();
  };
  return (
    <div class="flex justify-end gap-1.5">
      <Button onClick={() => void act(runNow)}>Run now</Button>
      {isPaused ? (
        <Button onClick={() => void act(resume)}>Resume</Button>
      ) : (
        <Button onClick={() => ask('pause')}>Pause …</Button>
      )}
      <Button onClick={onEdit}>Edit …</Button>
      <Button kind="danger" onClick={() => ask('delete')}>
        Delete …
      </Button>
      {asking === 'pause' && <PauseQuestion name={name} onDone={end} onNo={() => ask(null)} />}
      {asking === 'delete' && <DeleteQuestion name={name} onDone={end} onNo={() => ask(null)} />}
      <Trouble error={error} />
    </div>
  );
}

interface AskedProps {
  readonly name: string;
  onDone(): void;
  onNo(): void;
}

function PauseQuestion({ name, onDone, onNo }: AskedProps) {
  const [note, setNote] = useState('');
  const { error, act } = useAct();
  const pause = async () => {
    await call(schedulePath(name, 'pause'), { method: 'POST', body: note === '' ? {} : { note } });
    onDone();
  };
  return (
    <Question title={`Pause ${name}?`} yes="Pause" no="No" kind="main" onYes={() => void act(pause)} onNo={onNo}>
      <p>It makes no jobs until it is resumed, and does not make up what falls into the pause.</p>
      <label class="mt-3 block text-sm">
        A note for others
        <input class={FIELD} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <Trouble error={error} />
    </Question>
  );
}

function DeleteQuestion({ name, onDone, onNo }: AskedProps) {
  const { error, act } = useAct();
  const remove = async () => {
    await call(schedulePath(name), { method: 'DELETE' });
    onDone();
  };
  return (
    <Question title={`Delete ${name}?`} yes="Delete" no="No" onYes={() => void act(remove)} onNo={onNo}>
      <p>The jobs that it made stay.</p>
      <Trouble error={error} />
    </Question>
  );
}
