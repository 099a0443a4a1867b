/** Adds a job as a form tells it. With files it is a draft until they are all there, so that no attempt begins without one. */
import { call } from '../data/call.ts';
import { sendFile } from '../data/send-file.ts';
import { saidIn, tagsOf } from '../ui/field.tsx';

export const PARAMETERS = ['param1', 'param2', 'param3', 'param4'] as const;

export interface NewJobForm {
  readonly queue: string;
  readonly form: HTMLFormElement;
  /** JSON text; null takes the four parameters. */
  readonly data: string | null;
  readonly files: readonly File[];
  onSent(sent: Sent): void;
}

/** How far the files are. */
export interface Sent {
  readonly file: File;
  readonly share: number;
}

/** Answers the job's id. */
export async function addJob({ queue, form, data, files, onSent }: NewJobForm): Promise<string> {
  const fields = new FormData(form);
  const body = {
    queue,
    data: data === null ? parametersIn(fields) : (JSON.parse(data) as unknown),
    ...optionsIn(fields),
    ...(files.length > 0 && { draft: true }),
  };
  const { id } = await call<{ id: string }>('api/jobs', { method: 'POST', body });
  for (const file of files) await sendFile(id, file, (share) => onSent({ file, share }));
  if (files.length > 0) await call(`api/jobs/${encodeURIComponent(id)}/commit`, { method: 'POST', body: {} });
  return id;
}

function parametersIn(fields: FormData): Readonly<Record<string, string>> {
  const given = PARAMETERS.map((name) => [name, saidIn(fields, name)] as const).filter(([, value]) => value !== '');
  return Object.fromEntries(given);
}

function optionsIn(fields: FormData): object {
  const said = (name: string): string => saidIn(fields, name);
  const tags = tagsOf(said('tags'));
  return {
    ...(said('name') !== '' && { name: said('name') }),
    ...(said('priority') !== '' && { priority: Number(said('priority')) }),
    ...(said('delay') !== '' && { delay: said('delay') }),
    ...(tags.length > 0 && { tags }),
  };
}
