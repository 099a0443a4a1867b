/** Adds a job from a form. With files, the job is a draft until all are uploaded, so that no attempt starts without one. */
import { call } from '../data/call.ts';
import { sendFile } from '../data/send-file.ts';
import { fieldValue, tagsOf } from '../ui/field.tsx';

export const PARAMETERS = ['param1', 'param2', 'param3', 'param4'] as const;

export interface NewJobInput {
  readonly queue: string;
  readonly form: HTMLFormElement;
  /** JSON text; null uses the four parameters. */
  readonly data: string | null;
  readonly files: readonly File[];
  onSent(sent: Sent): void;
}

/** Upload progress. */
export interface Sent {
  readonly file: File;
  readonly share: number;
}

/** Adds the job and returns its id. */
export async function addJob({ queue, form, data, files, onSent }: NewJobInput): Promise<string> {
  const fields = new FormData(form);
  const body = {
    queue,
    data: data === null ? parametersOf(fields) : (JSON.parse(data) as unknown),
    ...optionsOf(fields),
    ...(files.length > 0 && { draft: true }),
  };
  const { id } = await call<{ id: string }>('api/jobs', { method: 'POST', body });
  for (const file of files) await sendFile(id, file, (share) => onSent({ file, share }));
  if (files.length > 0) await call(`api/jobs/${encodeURIComponent(id)}/commit`, { method: 'POST', body: {} });
  return id;
}

function parametersOf(fields: FormData): Readonly<Record<string, string>> {
  const given = PARAMETERS.map((name) => [name, fieldValue(fields, name)] as const).filter(([, value]) => value !== '');
  return Object.fromEntries(given);
}

function optionsOf(fields: FormData): object {
  const value = (name: string): string => fieldValue(fields, name);
  const tags = tagsOf(value('tags'));
  return {
    ...(value('name') !== '' && { name: value('name') }),
    ...(value('priority') !== '' && { priority: Number(value('priority')) }),
    ...(value('delay') !== '' && { delay: value('delay') }),
    ...(tags.length > 0 && { tags }),
  };
}
