/** What can be done with a job in its state. What cannot be undone asks first and says what will happen. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { go, queuePath } from '../data/address.ts';
import { call } from '../data/call.ts';
import { useMay } from '../data/me.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Question } from '../ui/question.tsx';
import { Trouble } from '../ui/trouble.tsx';
import { CancelDialog } from './cancel-dialog.tsx';
import type { Editing } from './edit-job.tsx';
import { EditJob } from './edit-job.tsx';

type Asking = 'cancel' | 'delete' | Editing | null;

export function JobActions({ job, onDone }: { job: JobView; onDone: () => void }) {
  const { error, act } = useAct();
  const [asking, ask] = useState<Asking>(null);
  const path = `api/jobs/${encodeURIComponent(job.id)}`;
  const post = (verb: string, body: object = {}) => {
    ask(null);
    void act(() => call(`${path}/${verb}`, { method: 'POST', body }).then(onDone));
  };
  const remove = async () => {
    await call(path, { method: 'DELETE' });
    go(queuePath(job.queue));
  };
  const edited = () => {
    ask(null);
    onDone();
  };
  return (
    <div class="grid gap-2">
      <Buttons job={job} post={post} ask={ask} />
      <Trouble error={error} />
      {asking === 'cancel' && (
        <CancelDialog job={job} onClose={() => ask(null)} onYes={(body) => post('cancel', body)} />
      )}
      {(asking === 'change' || asking === 'move' || asking === 'duplicate') && (
        <EditJob job={job} kind={asking} onClose={() => ask(null)} onDone={edited} />
      )}
      {asking === 'delete' && (
        <Question
          title="Delete this job?"
          yes="Delete"
          no="Keep it"
          onYes={() => void act(remove)}
          onNo={() => ask(null)}
        >
          <p>It goes with its history, its logs and its attachments. This cannot be undone.</p>
        </Question>
      )}
    </div>
  );
}

interface ButtonsProps {
  readonly job: JobView;
  post(verb: string): void;
  ask(what: Asking): void;
}

/** What can be done with it in its state, by the one who looks. */
function Buttons({ job, post, ask }: ButtonsProps) {
  const [maySubmit, mayOperate] = [useMay('submit'), useMay('operate')];
  return (
    <div class="flex flex-wrap gap-2">
      {mayOperate && <Operations job={job} post={post} ask={ask} />}
      {maySubmit && job.state === 'draft' && <Button onClick={() => post('commit')}>Commit</Button>}
      {maySubmit && <Button onClick={() => ask('duplicate')}>Duplicate …</Button>}
      {mayOperate && job.state !== 'running' && (
        <Button kind="danger" onClick={() => ask('delete')}>
          Delete …
        </Button>
      )}
    </div>
  );
}

function Operations({ job, post, ask }: ButtonsProps) {
  const { state, label } = job;
  const isOver = state === 'done' || state === 'failed' || state === 'cancelled';
  const isPaused = job.lease?.pauseAskedAt != null;
  return (
    <>
      {!isOver && (
        <Button kind="danger" onClick={() => ask('cancel')} disabled={label === 'cancelling'}>
          Cancel …
        </Button>
      )}
      {isOver && <Button onClick={() => post('requeue')}>{state === 'failed' ? 'Retry' : 'Run again'}</Button>}
      {label === 'held' && <Button onClick={() => post('requeue')}>Requeue</Button>}
      {(label === 'scheduled' || label === 'retrying') && <Button onClick={() => post('run-now')}>Run now</Button>}
      {state === 'running' && !isPaused && <Button onClick={() => post('pause')}>Pause</Button>}
      {state === 'running' && isPaused && <Button onClick={() => post('resume')}>Go on</Button>}
      {(state === 'waiting' || state === 'draft') && <Button onClick={() => ask('change')}>Change …</Button>}
      {state === 'waiting' && <Button onClick={() => ask('move')}>Move …</Button>}
    </>
  );
}
