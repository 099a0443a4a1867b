/** Changing a job that waits, moving it to another queue, and making a new one after it with changes. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { go, jobPath } from '../data/address.ts';
import { call } from '../data/call.ts';
import { useOverview } from '../data/overview.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FIELD, Field, saidIn, tagsOf } from '../ui/field.tsx';
import { Trouble } from '../ui/trouble.tsx';

export type Editing = 'change' | 'move' | 'duplicate';

const TITLES: Readonly<Record<Editing, string>> = {
  change: 'Change this job',
  move: 'Move this job',
  duplicate: 'A new job after this one',
};
const YES: Readonly<Record<Editing, string>> = { change: 'Change it', move: 'Move it', duplicate: 'Add the job' };

interface EditProps {
  readonly job: JobView;
  readonly kind: Editing;
  onDone(): void;
  onClose(): void;
}

export function EditJob({ job, kind, onDone, onClose }: EditProps) {
  const { error, act } = useAct();
  const [problem, setProblem] = useState('');
  const submit = async (form: HTMLFormElement) => {
    try {
      await send(job, kind, new FormData(form));
      onDone();
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw thrown;
      setProblem(thrown.message);
    }
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    setProblem('');
    const form = event.currentTarget as HTMLFormElement;
    void act(() => submit(form));
  };
  return (
    <Dialog title={TITLES[kind]} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit}>
        {kind !== 'change' && <QueueField queue={job.queue} />}
        {kind !== 'move' && <JobFields job={job} problem={problem} />}
        <Trouble error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button kind="main" type="submit">
            {YES[kind]}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function QueueField({ queue }: { queue: string }) {
  const { data } = useOverview();
  const names = data?.queues.map(({ name }) => name) ?? [queue];
  return (
    <label class="text-sm">
      Queue
      <select name="queue" class={FIELD} defaultValue={queue}>
        {names.map((name) => (
          <option key={name} value={name} selected={name === queue}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function JobFields({ job, problem }: { job: JobView; problem: string }) {
  return (
    <>
      <div class="grid gap-2 sm:grid-cols-3">
        <Field name="name" value={job.name ?? ''} words="Name" />
        <Field name="priority" value={String(job.priority)} words="Priority (lower first)" isNumber />
        <Field name="tags" value={job.tags.join(', ')} words="Tags" placeholder="a, b" />
      </div>
      <label class="text-sm">
        Data (JSON)
        <textarea
          name="data"
          class={`${FIELD} h-40 font-mono text-[13px]`}
          spellcheck={false}
          aria-invalid={problem !== ''}
          aria-describedby="edit-problem"
          defaultValue={JSON.stringify(job.data, null, 2)}
        />
        <span id="edit-problem" class="text-bad">
          {problem}
        </span>
      </label>
    </>
  );
}

async function send(job: JobView, kind: Editing, fields: FormData): Promise<void> {
  const path = `api/jobs/${encodeURIComponent(job.id)}`;
  const said = (name: string): string => saidIn(fields, name);
  if (kind === 'move') return void (await call(`${path}/move`, { method: 'POST', body: { queue: said('queue') } }));
  const changes = {
    ...(said('name') !== '' && said('name') !== job.name && { name: said('name') }),
    priority: Number(said('priority')),
    tags: tagsOf(said('tags')),
    data: JSON.parse(said('data')) as unknown,
  };
  if (kind === 'change') return void (await call(path, { method: 'PATCH', body: changes }));
  const body = { ...changes, queue: said('queue') };
  const copy = await call<{ id: string; queue: string }>(`${path}/duplicate`, { method: 'POST', body });
  go(jobPath(copy.queue, copy.id));
}
