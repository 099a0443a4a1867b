/** A new job by hand: data as JSON with its errors in place, or RQ's four parameters; files; priority, delay, tags. */
import { useState } from 'preact/hooks';
import { go, jobPath } from '../data/address.ts';
import { CallError, call } from '../data/call.ts';
import { sendFile } from '../data/send-file.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FIELD, Field, saidIn, tagsOf } from '../ui/field.tsx';
import { Trouble } from '../ui/trouble.tsx';

const PARAMETERS = ['param1', 'param2', 'param3', 'param4'] as const;

export function NewJob({ queue, onClose }: { queue: string; onClose: () => void }) {
  const [data, setData] = useState('{}');
  const [isSimple, setSimple] = useState(false);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [sent, setSent] = useState<string | null>(null);
  const [error, setError] = useState<CallError | null>(null);
  const jsonProblem = isSimple ? null : problemOf(data);
  const submit = async (form: HTMLFormElement) => {
    setError(null);
    try {
      go(jobPath(queue, await add({ queue, form, data: isSimple ? null : data, files, onSent: setSent })));
    } catch (problem) {
      if (!(problem instanceof CallError)) throw problem;
      setError(problem);
      setSent(null);
    }
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (jsonProblem === null) void submit(event.currentTarget as HTMLFormElement);
  };
  const take = (list: FileList | null | undefined) => setFiles([...files, ...(list ?? [])]);
  return (
    <Dialog title={`A new job for ${queue}`} onClose={onClose}>
      <form
        class="grid gap-3"
        onSubmit={onSubmit}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          take(event.dataTransfer?.files);
        }}
      >
        <label class="flex items-center gap-2 text-sm">
          <input type="checkbox" checked={isSimple} onChange={(event) => setSimple(event.currentTarget.checked)} />
          four parameters in place of JSON
        </label>
        {isSimple ? (
          <div class="grid gap-2 sm:grid-cols-2">
            {PARAMETERS.map((name) => (
              <Field key={name} name={name} words={name} />
            ))}
          </div>
        ) : (
          <label class="text-sm">
            Data (JSON)
            <textarea
              class={`${FIELD} h-40 font-mono text-[13px]`}
              value={data}
              spellcheck={false}
              aria-invalid={jsonProblem !== null}
              aria-describedby="json-problem"
              onInput={(event) => setData(event.currentTarget.value)}
            />
            <span id="json-problem" class="text-bad">
              {jsonProblem}
            </span>
          </label>
        )}
        <div class="grid gap-2 sm:grid-cols-4">
          <Field name="name" words="Name" />
          <Field name="priority" words="Priority (lower first)" isNumber />
          <Field name="delay" words="Delay" placeholder="10m" />
          <Field name="tags" words="Tags" placeholder="a, b" />
        </div>
        <label class="rounded-md border border-dashed border-line px-3 py-3 text-sm text-soft">
          Files: choose them or drop them here
          <input type="file" multiple class="mt-1 block" onChange={(event) => take(event.currentTarget.files)} />
        </label>
        {files.length > 0 && <p class="text-sm">{files.map(({ name }) => name).join(', ')}</p>}
        {sent !== null && (
          <p role="status" class="text-sm text-soft">
            {sent}
          </p>
        )}
        <Trouble error={error} />
        <div class="flex justify-end gap-2">
          <Button onClick={onClose}>Not now</Button>
          <Button kind="main" type="submit" disabled={jsonProblem !== null || sent !== null}>
            Add the job
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function problemOf(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Added {
  readonly queue: string;
  readonly form: HTMLFormElement;
  /** JSON text; null takes the four parameters. */
  readonly data: string | null;
  readonly files: readonly File[];
  onSent(words: string): void;
}

/** With files it is a draft until they are all there, so that no attempt begins without one. */
async function add({ queue, form, data, files, onSent }: Added): Promise<string> {
  const fields = new FormData(form);
  const said = (name: string): string => saidIn(fields, name);
  const tags = tagsOf(said('tags'));
  const parameters = PARAMETERS.filter((name) => said(name) !== '').map((name) => [name, said(name)]);
  const body = {
    queue,
    data: data === null ? Object.fromEntries(parameters) : (JSON.parse(data) as unknown),
    ...(said('name') !== '' && { name: said('name') }),
    ...(said('priority') !== '' && { priority: Number(said('priority')) }),
    ...(said('delay') !== '' && { delay: said('delay') }),
    ...(tags.length > 0 && { tags }),
    ...(files.length > 0 && { draft: true }),
  };
  const { id } = await call<{ id: string }>('api/jobs', { method: 'POST', body });
  for (const file of files) await sendFile(id, file, (share) => onSent(`${file.name}: ${Math.floor(share * 100)} %`));
  if (files.length > 0) await call(`api/jobs/${id}/commit`, { method: 'POST', body: {} });
  return id;
}
