/** Sends the event that a job waits for, with optional data. */
import { useState } from 'preact/hooks';
import type { NotifyOutcome } from '../../../src/core/ports/job-store.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { call } from '../data/call.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { FIELD, fieldValue } from '../ui/field.tsx';
import { jsonProblem } from '../ui/json-problem.ts';

/** What to say if the job did not resume. */
const NOTES: Readonly<Record<Exclude<NotifyOutcome, 'woken'>, string>> = {
  kept: 'The job no longer waits for it. The event is kept for a later wait.',
  ignored: 'The event had arrived before. The first one counts.',
};

interface SendEventProps {
  readonly job: JobView;
  /** The name of the event. */
  readonly event: string;
  onDone(): void;
  onClose(): void;
}

export function SendEvent({ job, event, onDone, onClose }: SendEventProps) {
  const { error, run } = useAction();
  const [problem, setProblem] = useState<string | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const send = async (text: string) => {
    const body = { name: event, ...(text !== '' && { data: JSON.parse(text) as unknown }) };
    const path = `api/jobs/${encodeURIComponent(job.id)}/notify`;
    const { outcome } = await call<{ outcome: NotifyOutcome }>(path, { method: 'POST', body });
    if (outcome === 'woken') onDone();
    else setNote(NOTES[outcome]);
  };
  const onSubmit = (submitted: SubmitEvent) => {
    submitted.preventDefault();
    const text = fieldValue(new FormData(submitted.currentTarget as HTMLFormElement), 'data');
    const found = text === '' ? null : jsonProblem(text);
    setProblem(found);
    if (found === null) void run(() => send(text));
  };
  return (
    <Dialog title={`Send “${event}”?`} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit}>
        <p>The job resumes and receives the data. This cannot be undone.</p>
        <label class="text-sm">
          Data (JSON, optional)
          <textarea
            name="data"
            class={`${FIELD} h-24 font-mono text-[13px]`}
            spellcheck={false}
            placeholder="null"
            aria-invalid={problem !== null}
            aria-describedby="event-problem"
          />
          <span id="event-problem" class="text-bad">
            {problem}
          </span>
        </label>
        <ErrorMessage error={error} />
        {note !== null && <p role="status">{note}</p>}
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button kind="main" type="submit" disabled={note !== null}>
            Send {event}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
