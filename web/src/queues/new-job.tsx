/** The form for a new job: data as JSON or RQ's four parameters, files, name, priority, delay, tags. */
import { useState } from 'preact/hooks';
import { go, jobPath } from '../data/location.ts';
import { useAction } from '../data/use-action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { FIELD, Field } from '../ui/field.tsx';
import { jsonProblem } from '../ui/json-problem.ts';
import type { NewJobInput, Sent } from './add-job.ts';
import { addJob, PARAMETERS } from './add-job.ts';
import { Files } from './new-files.tsx';

export function NewJob({ queue, onClose }: { queue: string; onClose: () => void }) {
  const [data, setData] = useState('{}');
  const [isSimple, setSimple] = useState(false);
  const [files, setFiles] = useState<readonly File[]>([]);
  const { sent, error, add } = useAdd();
  const problem = isSimple ? null : jsonProblem(data);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    if (problem === null) add({ queue, form, data: isSimple ? null : data, files });
  };
  const take = (list: FileList | null | undefined) => setFiles([...files, ...(list ?? [])]);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    take(event.dataTransfer?.files);
  };
  return (
    <Dialog title={`New job for ${queue}`} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit} onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
        <label class="flex items-center gap-2 text-sm">
          <input type="checkbox" checked={isSimple} onChange={(event) => setSimple(event.currentTarget.checked)} />
          four parameters instead of JSON
        </label>
        {isSimple ? <FourParameters /> : <JsonField text={data} problem={problem} set={setData} />}
        <Options />
        <Files files={files} sent={sent} take={take} drop={(file) => setFiles(files.filter((each) => each !== file))} />
        <ErrorMessage error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          <Button kind="main" type="submit" disabled={problem !== null || sent !== null}>
            Add job
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

type NewJobFields = Omit<NewJobInput, 'onSent'>;

/** Adds the job, reports upload progress, and opens the job's page. */
function useAdd() {
  const [sent, setSent] = useState<Sent | null>(null);
  const { error, run } = useAction();
  const add = (fields: NewJobFields): void =>
    void run(() => addJob({ ...fields, onSent: setSent }).then((id) => go(jobPath(fields.queue, id)))).then(() =>
      setSent(null),
    );
  return { sent, error, add };
}

function FourParameters() {
  return (
    <div class="grid gap-2 sm:grid-cols-2">
      {PARAMETERS.map((name) => (
        <Field key={name} name={name} label={name} />
      ))}
    </div>
  );
}

interface JsonFieldProps {
  readonly text: string;
  readonly problem: string | null;
  set(text: string): void;
}

function JsonField({ text, problem, set }: JsonFieldProps) {
  return (
    <label class="text-sm">
      Data (JSON)
      <textarea
        class={`${FIELD} h-40 font-mono text-[13px]`}
        value={text}
        spellcheck={false}
        aria-invalid={problem !== null}
        aria-describedby="json-problem"
        onInput={(event) => set(event.currentTarget.value)}
      />
      <span id="json-problem" class="text-bad">
        {problem}
      </span>
    </label>
  );
}

function Options() {
  return (
    <div class="grid gap-2 sm:grid-cols-4">
      <Field name="name" label="Name" />
      <Field name="priority" label="Priority (lower first)" isNumber />
      <Field name="delay" label="Delay" placeholder="10m" />
      <Field name="tags" label="Tags" placeholder="a, b" />
    </div>
  );
}
