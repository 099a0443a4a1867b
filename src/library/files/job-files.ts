/** The files of a job as the library shows them: one type for inputs, outputs and the files of parents. */
import { Readable } from 'node:stream';
import { LonghaulError } from '../../core/ports/errors.ts';
import { refuse } from '../../core/ports/refusal.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { FileContent } from './file-content.ts';
import type { FilePlace, FileRange, FileReader } from './file-place.ts';
import { writeAtomically } from './file-transfer.ts';

/** A file of a job. */
export interface JobFile {
  /** Its name. Outputs of scripts may be in directories: names with slashes. */
  readonly name: string;
  /** Its size in bytes. */
  readonly size: number;
  /** Its SHA-256 in hex. */
  readonly sha256: string;
  /** `in`: added with the job. `out`: attached by an attempt. */
  readonly direction: 'in' | 'out';
  /** Reads it as a stream of bytes, in constant memory; a whole read is verified. `range`: from `start` to before `end`. */
  stream(range?: FileRange): Readable;
  /** Reads all bytes into memory. */
  bytes(): Promise<Buffer>;
  /** Reads all of it as UTF-8 text. */
  text(): Promise<string>;
  /** Reads all of it as JSON. */
  json<Value = unknown>(): Promise<Value>;
  /** Writes it to a path, complete or not at all. */
  save(path: string): Promise<void>;
  /**
   * Returns the path of its content on this machine, for programs that read from a path; null if it is not here. The
   * content is shared with other jobs and must not be changed: `save` makes a copy.
   */
  localPath(): Promise<string | null>;
}

/** The files of a job. */
export interface JobFiles {
  /** Lists its complete files. */
  list(): Promise<readonly JobFile[]>;
  /**
   * Returns a file by name, of any attempt. Without a direction, an output has precedence over an input of the same
   * name. Throws `refused` (`not-found`) when there is none.
   */
  get(name: string, options?: { readonly direction?: 'in' | 'out' }): Promise<JobFile>;
}

/** The files of a job, and files for a draft. */
export interface DraftFiles extends JobFiles {
  /** Attaches a file to a draft. Throws `refused` (`wrong-state`) when the job is not a draft. */
  attach(name: string, content: FileContent): Promise<JobFile>;
}

export function draftFiles(place: FilePlace, id: string): DraftFiles {
  return {
    ...createJobFiles(place, id),
    async attach(name, content) {
      const { signal } = new AbortController();
      return createJobFile(place, id, await place.put({ id, name, content, lease: null, signal }));
    },
  };
}

export function createJobFiles(reader: FileReader, id: string): JobFiles {
  return {
    list: async () => (await reader.list(id)).map((file) => createJobFile(reader, id, file)),
    async get(name, { direction } = {}) {
      const files = await reader.list(id);
      const found = findFile(files, name, direction);
      if (found !== undefined) return createJobFile(reader, id, found);
      const { refusal } = refuse('not-found', `file ${name} of job ${id}`);
      const names = [...new Set(files.map((file) => file.name))].slice(0, MAX_NAMES).join(', ');
      const message = `${refusal.message}; the job has ${names === '' ? 'no files' : names}`;
      throw new LonghaulError('refused', message, { refusal: { ...refusal, message } });
    },
  };
}

/** The names in an error message. */
const MAX_NAMES = 20;

function findFile(
  files: readonly Attachment[],
  name: string,
  direction: Attachment['direction'] | undefined,
): Attachment | undefined {
  const named = files.filter((file) => file.name === name && file.direction === (direction ?? file.direction));
  return named.find((file) => file.direction === 'out') ?? named[0];
}

export function createJobFile(reader: FileReader, id: string, file: Attachment): JobFile {
  const stream = (range?: FileRange): Readable =>
    Readable.from(read(reader, { id, file, range }), { objectMode: false, highWaterMark: STREAM_BYTES });
  const bytes = async (): Promise<Buffer> => Buffer.concat((await stream().toArray()) as Buffer[]);
  const { name, size, sha256, direction } = file;
  return {
    name,
    size,
    sha256,
    direction,
    stream,
    bytes,
    text: async () => (await bytes()).toString('utf8'),
    json: async <Value>() => JSON.parse((await bytes()).toString('utf8')) as Value,
    save: (path) => writeAtomically(path, stream()),
    localPath: () => reader.localPath(id, file),
  };
}

const STREAM_BYTES = 256 * 1024;

interface Reading {
  readonly id: string;
  readonly file: Attachment;
  readonly range: FileRange | undefined;
}

/** Opens the content with the first read: a stream that is not read opens nothing. */
async function* read(reader: FileReader, { id, file, range }: Reading): AsyncGenerator<Uint8Array> {
  yield* await reader.open(id, file, range);
}
