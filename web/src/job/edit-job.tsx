/** Edits, moves or duplicates a job. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import { call } from '../data/call.ts';
import { go, jobPath } from '../data/location.ts';
import { useOverview } from '../data/overview.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { FIELD, Field, fieldValue, tagsOf } from '../ui/field.tsx';

export type Editing = 'change' | 'move' | 'duplicate';

const TITLES: Readonly<Record<Editing, string>> = {
  change: 'Edit job',
  move: 'Move job',
  duplicate: 'Duplicate job',
};
const YES: Readonly<Record<Editing, string>> = { change: 'Save', move: 'Move', duplicate: 'Add job' };

interface EditProps {
  readonly job: JobView;
  readonly kind: Editing;
  onDone(): void;
  onClose(): void;
}

export function EditJob({ job, kind, onDone, onClose }: EditProps) {
  const { error, run } = useAction();
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
    void run(() => submit(form));
  };
  return (
    <Dialog title={TITLES[kind]} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit}>
        {kind !== 'change' && <QueueField queue={job.queue} />}
        {kind !== 'move' && <JobFields job={job} problem={problem} />}
        <ErrorMessage error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
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
        <Field name="name" value={job.name ?? ''} label="Name" />
        <Field name="priority" value={String(job.priority)} label="Priority (lower first)" isNumber />
        <Field name="tags" value={job.tags.join(', ')} label="Tags" placeholder="a, b" />
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
  const value = (name: string): string => fieldValue(fields, name);
  if (kind === 'move') return void (await call(`${path}/move`, { method: 'POST', body: { queue: value('queue') } }));
  const changes = {
    ...(value('name') !== '' && value('name') !== job.name && { name: value('name') }),
    priority: Number(value('priority')),
    tags: tagsOf(value('tags')),
    data: JSON.parse(value('data')) as unknown,
  };
  if (kind === 'change') return void (await call(path, { method: 'PATCH', body: changes }));
  const body = { ...changes, queue: value('queue') };
  const copy = await call<{ id: string; queue: string }>(`${path}/duplicate`, { method: 'POST', body });
  go(jobPath(copy.queue, copy.id));
}
