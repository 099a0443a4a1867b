/** Request bodies of RQ's HTTP API: form fields, and multipart forms with a file that is streamed. */
import { Readable } from 'node:stream';
import type { UploadBody } from '../../outbound/outbound-call.ts';

export const FORM_TYPE = 'application/x-www-form-urlencoded';

export function formOf(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString();
}

export interface FormFile {
  readonly boundary: string;
  readonly name: string;
  readonly size: number;
  open(): Promise<Readable>;
}

export function fileForm({ boundary, name, size, open }: FormFile): Pick<UploadBody, 'length' | 'open'> {
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="x_format"\r\n\r\njson\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="filedata"; filename="${quoted(name)}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* parts(): AsyncGenerator<Buffer> {
    yield head;
    yield* (await open()) as AsyncIterable<Buffer>;
    yield tail;
  }
  return {
    length: head.length + size + tail.length,
    open: async () => Readable.from(parts(), { objectMode: false }),
  };
}

/** Escaped as in browsers: no character of the name can end it. */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Parses RQ's answer `["ok", text]` or `["fail", text]`; null when it is neither. */
export function rqAnswer(json: unknown): { readonly isOk: boolean; readonly text: string } | null {
  if (!Array.isArray(json) || (json[0] !== 'ok' && json[0] !== 'fail')) return null;
  return { isOk: json[0] === 'ok', text: String(json[1] ?? '') };
}

/** Returns why RQ accepts no file of this name, in its own words; null when it does. */
export function rqNameProblem(name: string): string | null {
  if (name.startsWith('.')) return `Attachment name as a dot-file not allowed: ${name}`;
  return /[~?[\]%|$&<>*]/.test(name) ? `Attachment name has invalid character. not allowed: ${name}` : null;
}
