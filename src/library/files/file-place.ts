/**
 * The place of files: a data directory on this machine (directory-place.ts) or a node (node-place.ts). The port behind
 * which the rest of the library does not know which one it uses.
 *
 * Invariant: a file is in the list only when it is complete.
 */
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Refused } from '../../core/ports/refusal.ts';
import type { Store } from '../../core/ports/store.ts';
import { type Attachment, listAttachments } from '../../files/attachments/attachments.ts';
import type { FileContent } from './file-content.ts';

/** The bytes from `start` to before `end`. */
export interface FileRange {
  readonly start?: number;
  readonly end?: number;
}

export interface NewFile {
  /** The job's id. */
  readonly id: string;
  readonly name: string;
  readonly content: FileContent;
  /** The token of the attempt whose output it is; null for an input of a draft. */
  readonly lease: number | null;
  readonly signal: AbortSignal;
  /** Called for each piece that was read. */
  onBytes?(): void;
}

/** Reads of the files of any job. Arguments and answers but `open` are plain data. */
export interface FileReader {
  list(id: string): Promise<readonly Attachment[]>;
  /** Opens the content. A whole read is verified. */
  open(id: string, file: Attachment, range?: FileRange): Promise<AsyncIterable<Uint8Array>>;
  /** Returns the path of the content on this machine; null if it is not here. */
  localPath(id: string, file: Attachment): Promise<string | null>;
}

export interface FilePlace extends FileReader {
  /** Throws `refused` for a stale lease and for a job that accepts no files. */
  put(file: NewFile): Promise<Attachment>;
  /** Returns why a draft cannot be committed: a file is incomplete. Null when none is. */
  unfinished(id: string): Promise<Refused | null>;
  /** Removes the files of a job that was deleted. */
  removeAll(id: string): Promise<void>;
  /** Removes the files of all deleted jobs, if this is due and not left to a node. */
  sweep(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Opens the place on first use: most connections need no files. */
export function lazyPlace(open: () => Promise<FilePlace>): FilePlace {
  let opening: Promise<FilePlace> | null = null;
  const get = (): Promise<FilePlace> => {
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  return {
    list: async (id) => (await get()).list(id),
    open: async (id, file, range) => (await get()).open(id, file, range),
    localPath: async (id, file) => (await get()).localPath(id, file),
    put: async (file) => (await get()).put(file),
    unfinished: async (id) => (await get()).unfinished(id),
    removeAll: async (id) => (await get()).removeAll(id),
    sweep: async (signal) => (await get()).sweep(signal),
    close: async () => (await opening)?.close(),
  };
}

const REMEDIES =
  "connect with { home: 'a data directory' } to keep files on this machine, or with { files: 'http://node:3333', token } to send them to a node";

/** The place of a connection that has none: files can be listed, and every other call throws `bad-input`. */
export function noPlace(store: Store): FilePlace {
  const refuse = (): Promise<never> =>
    Promise.reject(new LonghaulError('bad-input', `this connection has no place for files: ${REMEDIES}`));
  return {
    list: (id) => listAttachments(store, id),
    open: refuse,
    localPath: async () => null,
    put: refuse,
    unfinished: async () => null,
    removeAll: async () => undefined,
    sweep: async () => undefined,
    close: async () => undefined,
  };
}
