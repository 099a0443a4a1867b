/** A new job by hand: data as JSON with its errors in place, or RQ's four parameters; files; priority, delay, tags. */
import { useState } from 'preact/hooks';
import { go, jobPath } from '../data/address.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FIELD, Field } from '../ui/field.tsx';
import { jsonProblem } from '../ui/json-problem.ts';
import { Trouble } from '../ui/trouble.tsx';
import type { NewJobForm } from './add-job.ts';
import { addJob, PARAMETERS } from './add-job.ts';

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
    <Dialog title={`A new job for ${queue}`} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit} onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
        <label class="flex items-center gap-2 text-sm">
          <input type="checkbox" checked={isSimple} onChange={(event) => setSimple(event.currentTarget.checked)} />
          four parameters in place of JSON
        </label>
        {isSimple ? <FourParameters /> : <JsonField text={data} problem={problem} set={setData} />}
        <Options />
        <Files files={files} take={take} />
        {sent !== null && (
          <p role="status" class="text-sm text-soft">
            {sent}
          </p>
        )}
        <Trouble error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button kind="main" type="submit" disabled={problem !== null || sent !== null}>
            Add the job
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

type Told = Omit<NewJobForm, 'onSent'>;

/** Adds it and goes to its page; tells meanwhile how far its files are. */
function useAdd() {
  const [sent, setSent] = useState<string | null>(null);
  const { error, act } = useAct();
  const add = (told: Told): void =>
    void act(() => addJob({ ...told, onSent: setSent }).then((id) => go(jobPath(told.queue, id)))).then(() =>
      setSent(null),
    );
  return { sent, error, add };
}

function FourParameters() {
  return (
    <div class="grid gap-2 sm:grid-cols-2">
      {PARAMETERS.map((name) => (
        <Field key={name} name={name} words={name} />
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
      <Field name="name" words="Name" />
      <Field name="priority" words="Priority (lower first)" isNumber />
      <Field name="delay" words="Delay" placeholder="10m" />
      <Field name="tags" words="Tags" placeholder="a, b" />
    </div>
  );
}

function Files({ files, take }: { files: readonly File[]; take: (list: FileList | null) => void }) {
  return (
    <>
      <label class="rounded-md border border-dashed border-line px-3 py-3 text-sm text-soft">
        Files: choose them or drop them here
        <input type="file" multiple class="mt-1 block" onChange={(event) => take(event.currentTarget.files)} />
      </label>
      {files.length > 0 && <p class="text-sm break-words">{files.map(({ name }) => name).join(', ')}</p>}
    </>
  );
}
