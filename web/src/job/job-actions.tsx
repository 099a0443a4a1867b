/** What can be done with a job in its state. What cannot be undone asks first and says what will happen. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { go, queuePath } from '../data/address.ts';
import { call } from '../data/call.ts';
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
  const post = (verb: string) => {
    ask(null);
    void act(() => call(`${path}/${verb}`, { method: 'POST', body: {} }).then(onDone));
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
      {asking === 'cancel' && <CancelDialog job={job} onClose={() => ask(null)} onYes={() => post('cancel')} />}
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

/** What can be done with it in its state. */
function Buttons({ job, post, ask }: ButtonsProps) {
  const isOver = job.state === 'done' || job.state === 'failed' || job.state === 'cancelled';
  const isPaused = job.lease?.pauseAskedAt != null;
  return (
    <div class="flex flex-wrap gap-2">
      {!isOver && (
        <Button kind="danger" onClick={() => ask('cancel')} disabled={job.label === 'cancelling'}>
          Cancel …
        </Button>
      )}
      {isOver && <Button onClick={() => post('requeue')}>{job.state === 'failed' ? 'Retry' : 'Run again'}</Button>}
      {job.label === 'held' && <Button onClick={() => post('requeue')}>Requeue</Button>}
      {(job.label === 'scheduled' || job.label === 'retrying') && (
        <Button onClick={() => post('run-now')}>Run now</Button>
      )}
      {job.state === 'running' && !isPaused && <Button onClick={() => post('pause')}>Pause</Button>}
      {job.state === 'running' && isPaused && <Button onClick={() => post('resume')}>Go on</Button>}
      {job.state === 'draft' && <Button onClick={() => post('commit')}>Commit</Button>}
      {(job.state === 'waiting' || job.state === 'draft') && <Button onClick={() => ask('change')}>Change …</Button>}
      {job.state === 'waiting' && <Button onClick={() => ask('move')}>Move …</Button>}
      <Button onClick={() => ask('duplicate')}>Duplicate …</Button>
      {job.state !== 'running' && (
        <Button kind="danger" onClick={() => ask('delete')}>
          Delete …
        </Button>
      )}
    </div>
  );
}
