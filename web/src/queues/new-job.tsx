/** A new job by hand: data as JSON with its errors in place, or RQ's four parameters; files; priority, delay, tags. */
import { useState } from 'preact/hooks';
import { go, jobPath } from '../data/address.ts';
import { useAct } from '../data/use-act.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FIELD, Field } from '../ui/field.tsx';
import { jsonProblem } from '../ui/json-problem.ts';
import { Trouble } from '../ui/trouble.tsx';
import type { NewJobForm, Sent } from './add-job.ts';
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
    <Dialog title={`A new job for ${queue}`} onClose={onClose}>
      <form class="grid gap-3" onSubmit={onSubmit} onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
        <label class="flex items-center gap-2 text-sm">
          <input type="checkbox" checked={isSimple} onChange={(event) => setSimple(event.currentTarget.checked)} />
          four parameters in place of JSON
        </label>
        {isSimple ? <FourParameters /> : <JsonField text={data} problem={problem} set={setData} />}
        <Options />
        <Files files={files} sent={sent} take={take} drop={(file) => setFiles(files.filter((each) => each !== file))} />
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
  const [sent, setSent] = useState<Sent | null>(null);
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
