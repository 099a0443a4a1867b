/**
 * Adds that are over in one go: a stream, or a file that stands elsewhere on this machine. What does not become
 * a blob leaves nothing behind.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, rm } from 'node:fs/promises';
import { refuseBlob } from './blob-refusal.ts';
import { copyHashed } from './copy-hashed.ts';
import type { AddBlobResult, Depot } from './depot.ts';
import { checkExpected, type Expected, findMismatch } from './expected.ts';
import { onDisk } from './file-errors.ts';
import { shelve } from './finish-upload.ts';
import { type Foreign, type ForeignRules, openForeign } from './foreign-file.ts';
import { makeFile } from './own-file.ts';
import { receive, type Source } from './receive.ts';

export interface AddStreamOptions extends Expected {
  readonly signal?: AbortSignal;
}

export interface AddPathOptions extends Expected, ForeignRules {}

/** Throws what the source says when it fails. */
export async function addFromStream(
  depot: Depot,
  source: Source,
  { signal = new AbortController().signal, ...expected }: AddStreamOptions = {},
): Promise<AddBlobResult> {
  checkExpected(expected);
  if ((expected.size ?? 0) > depot.maxBytes) return tooLarge(depot);
  await depot.space.check(expected.size ?? 0);
  return withTemporary(depot, async (path, handle) => {
    const hash = createHash('sha256');
    const { space, maxBytes } = depot;
    const received = await receive(source, { handle, hash, position: 0, maxBytes, space, signal });
    if (received.end === 'too-large') return tooLarge(depot);
    if (received.end === 'cut') throw received.error;
    const content = { handle, sha256: hash.digest('hex'), size: received.length, expected };
    return (await findMismatch(content, expected)) ?? shelve(depot, path, content);
  });
}

export async function addFromPath(depot: Depot, path: string, options: AddPathOptions = {}): Promise<AddBlobResult> {
  checkExpected(options);
  const foreign = await openForeign(path, options);
  if (!foreign.ok) return foreign;
  try {
    return await addForeign(depot, foreign, options);
  } finally {
    await foreign.handle.close();
  }
}

async function addForeign(depot: Depot, foreign: Foreign, expected: Expected): Promise<AddBlobResult> {
  const { size, path: name } = foreign;
  if (size > depot.maxBytes) return tooLarge(depot);
  await depot.space.check(size);
  return withTemporary(depot, async (path, handle) => {
    const { sha256, bytes } = await copyHashed(foreign.handle, handle, size);
    // One that grows for ever is read no further than it was long; one that changes is no content at all.
    if (bytes !== size || !(await foreign.isUnchanged()))
      return refuseBlob('changed', `${name} changed while it was read`);
    const content = { handle, sha256, size, expected };
    return (await findMismatch(content, expected)) ?? shelve(depot, path, content);
  });
}

async function withTemporary<T>(depot: Depot, work: (path: string, handle: FileHandle) => Promise<T>): Promise<T> {
  const path = depot.layout.temporary();
  depot.busy.add(path);
  try {
    return await onDisk('when an attachment was added', async () => {
      const handle = await makeFile(path);
      if (handle === null) throw new Error(`${path} is there although its name is random`);
      try {
        return await work(path, handle);
      } finally {
        await handle.close();
      }
    });
  } finally {
    // A blob has left this name by now.
    await rm(path, { force: true });
    depot.busy.delete(path);
  }
}

const tooLarge = ({ maxBytes }: Depot) => refuseBlob('too-large', `an attachment has at most ${maxBytes} bytes`);
