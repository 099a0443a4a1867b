/** What can be done with a job in its state. What cannot be undone asks first and says what will happen. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { go, queuePath } from '../data/address.ts';
import { CallError, call } from '../data/call.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Trouble } from '../ui/trouble.tsx';
import type { Editing } from './edit-job.tsx';
import { EditJob } from './edit-job.tsx';

type Asking = 'cancel' | 'delete' | Editing | null;

export function JobActions({ job, onDone }: { job: JobView; onDone: () => void }) {
  const [error, setError] = useState<CallError | null>(null);
  const [asking, ask] = useState<Asking>(null);
  const path = `api/jobs/${encodeURIComponent(job.id)}`;
  const act = async (work: () => Promise<unknown>) => {
    setError(null);
    ask(null);
    try {
      await work();
      onDone();
    } catch (problem) {
      if (!(problem instanceof CallError)) throw problem;
      setError(problem);
    }
  };
  const post = (verb: string) => () => void act(() => call(`${path}/${verb}`, { method: 'POST', body: {} }));
  const remove = async () => {
    await call(path, { method: 'DELETE' });
    go(queuePath(job.queue));
  };
  const isOver = job.state === 'done' || job.state === 'failed' || job.state === 'cancelled';
  const isPaused = job.lease?.pauseAskedAt != null;
  return (
    <div class="grid gap-2">
      <div class="flex flex-wrap gap-2">
        {!isOver && (
          <Button kind="danger" onClick={() => ask('cancel')} disabled={job.label === 'cancelling'}>
            Cancel …
          </Button>
        )}
        {isOver && <Button onClick={post('requeue')}>{job.state === 'failed' ? 'Retry' : 'Run again'}</Button>}
        {job.label === 'held' && <Button onClick={post('requeue')}>Requeue</Button>}
        {(job.label === 'scheduled' || job.label === 'retrying') && <Button onClick={post('run-now')}>Run now</Button>}
        {job.state === 'running' && !isPaused && <Button onClick={post('pause')}>Pause</Button>}
        {job.state === 'running' && isPaused && <Button onClick={post('resume')}>Go on</Button>}
        {job.state === 'draft' && <Button onClick={post('commit')}>Commit</Button>}
        {(job.state === 'waiting' || job.state === 'draft') && <Button onClick={() => ask('change')}>Change …</Button>}
        {job.state === 'waiting' && <Button onClick={() => ask('move')}>Move …</Button>}
        <Button onClick={() => ask('duplicate')}>Duplicate …</Button>
        {job.state !== 'running' && (
          <Button kind="danger" onClick={() => ask('delete')}>
            Delete …
          </Button>
        )}
      </div>
      <Trouble error={error} />
      {asking === 'cancel' && <CancelDialog job={job} onClose={() => ask(null)} onYes={post('cancel')} />}
      {(asking === 'change' || asking === 'move' || asking === 'duplicate') && (
        <EditJob
          job={job}
          kind={asking}
          onClose={() => ask(null)}
          onDone={() => {
            ask(null);
            onDone();
          }}
        />
      )}
      {asking === 'delete' && (
        <Dialog title="Delete this job?" onClose={() => ask(null)}>
          <p>It goes with its history, its logs and its attachments. This cannot be undone.</p>
          <div class="mt-4 flex justify-end gap-2">
            <Button onClick={() => ask(null)}>Keep it</Button>
            <Button kind="danger" onClick={() => void act(remove)}>
              Delete
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

function CancelDialog({ job, onClose, onYes }: { job: JobView; onClose: () => void; onYes: () => void }) {
  return (
    <Dialog title="Cancel this job?" onClose={onClose}>
      {job.state === 'running' ? (
        <p>
          It runs{job.lease?.pid != null ? ` as process ${job.lease.pid}` : ''}. It is asked to stop; a script gets
          TERM, its grace, then KILL, together with every process it started. The job ends <em>cancelled</em> when none
          of them is left.
        </p>
      ) : (
        <p>It has not begun, and ends at once. It can be run again later.</p>
      )}
      <div class="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>Let it be</Button>
        <Button kind="danger" onClick={onYes}>
          Cancel the job
        </Button>
      </div>
    </Dialog>
  );
}
