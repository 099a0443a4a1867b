/** The actions of a job by state. Destructive actions ask for confirmation and describe their effect. */
import { useState } from 'preact/hooks';
import { plainName } from '../../../src/core/job/step.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { call } from '../data/call.ts';
import { go, queuePath } from '../data/location.ts';
import { useHasRole } from '../data/me.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { CancelDialog } from './cancel-dialog.tsx';
import type { Editing } from './edit-job.tsx';
import { EditJob } from './edit-job.tsx';
import { SendEvent } from './send-event.tsx';

/** `event`: the name of an event to send. */
type DialogKind = 'cancel' | 'delete' | Editing | { readonly event: string } | null;

export function JobActions({ job, onDone }: { job: JobView; onDone: () => void }) {
  const { error, run } = useAction();
  const [dialog, setDialog] = useState<DialogKind>(null);
  const path = `api/jobs/${encodeURIComponent(job.id)}`;
  const post = (verb: string, body: object = {}) => {
    setDialog(null);
    void run(() => call(`${path}/${verb}`, { method: 'POST', body }).then(onDone));
  };
  const remove = async () => {
    await call(path, { method: 'DELETE' });
    go(queuePath(job.queue));
  };
  const edited = () => {
    setDialog(null);
    onDone();
  };
  return (
    <div class="grid gap-2">
      <Buttons job={job} post={post} setDialog={setDialog} />
      <ErrorMessage error={error} />
      {dialog === 'cancel' && (
        <CancelDialog job={job} onClose={() => setDialog(null)} onConfirm={(body) => post('cancel', body)} />
      )}
      {(dialog === 'change' || dialog === 'move' || dialog === 'duplicate') && (
        <EditJob job={job} kind={dialog} onClose={() => setDialog(null)} onDone={edited} />
      )}
      {typeof dialog === 'object' && dialog !== null && (
        <SendEvent job={job} event={dialog.event} onClose={() => setDialog(null)} onDone={edited} />
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title="Delete this job?"
          confirmLabel="Delete"
          onConfirm={() => void run(remove)}
          onClose={() => setDialog(null)}
        >
          <p>The job is deleted with its history, logs and attachments. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

/** Returns the name of the event that a job waits for, or null. */
function awaitedEvent({ label, suspension }: JobView): string | null {
  return label === 'suspended' && suspension?.event != null ? plainName(suspension.event) : null;
}

interface ButtonsProps {
  readonly job: JobView;
  post(verb: string): void;
  setDialog(what: DialogKind): void;
}

/** The buttons that the job's state and the user's role allow. */
function Buttons({ job, post, setDialog }: ButtonsProps) {
  const [canSubmit, canOperate] = [useHasRole('submit'), useHasRole('operate')];
  return (
    <div class="flex flex-wrap gap-2">
      {canOperate && <Operations job={job} post={post} setDialog={setDialog} />}
      {canSubmit && job.state === 'draft' && <Button onClick={() => post('commit')}>Commit</Button>}
      {canSubmit && <Button onClick={() => setDialog('duplicate')}>Duplicate …</Button>}
      {canOperate && job.state !== 'running' && (
        <Button kind="danger" onClick={() => setDialog('delete')}>
          Delete …
        </Button>
      )}
    </div>
  );
}

function Operations({ job, post, setDialog }: ButtonsProps) {
  const { state, label } = job;
  const isOver = state === 'done' || state === 'failed' || state === 'cancelled';
  const isPaused = job.lease?.pauseAskedAt != null;
  const event = awaitedEvent(job);
  return (
    <>
      {event !== null && (
        <Button kind="main" onClick={() => setDialog({ event })}>
          Send “{event}” …
        </Button>
      )}
      {!isOver && (
        <Button kind="danger" onClick={() => setDialog('cancel')} disabled={label === 'cancelling'}>
          Cancel job …
        </Button>
      )}
      {isOver && <Button onClick={() => post('requeue')}>Retry</Button>}
      {label === 'held' && <Button onClick={() => post('requeue')}>Retry</Button>}
      {(label === 'scheduled' || label === 'retrying') && <Button onClick={() => post('run-now')}>Run now</Button>}
      {state === 'running' && !isPaused && <Button onClick={() => post('pause')}>Pause</Button>}
      {state === 'running' && isPaused && <Button onClick={() => post('resume')}>Resume</Button>}
      {(state === 'waiting' || state === 'draft') && <Button onClick={() => setDialog('change')}>Edit …</Button>}
      {state === 'waiting' && <Button onClick={() => setDialog('move')}>Move …</Button>}
    </>
  );
}
