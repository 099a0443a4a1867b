/**
 * Files in a data directory on this machine: the blob store of the directory, and records in the store.
 *
 * Invariant: a data directory belongs to one store. A node deletes the blobs that its own store does not reference, so
 * two stores in one directory would delete the files of each other.
 */
import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { AttachmentUploads } from '../../files/attachments/attachment-uploads.ts';
import { type Attachment, Attachments } from '../../files/attachments/attachments.ts';
import type { FileResult } from '../../files/attachments/file-upload.ts';
import { errnoOf, ifExists } from '../../files/blobs/file-errors.ts';
import { openBlobs } from '../../files/blobs/open-blobs.ts';
import { checkAttachmentName } from '../../files/outputs/attachment-name.ts';
import { storeIdentity } from '../../worker/outcome/store-identity.ts';
import { openContent } from './file-content.ts';
import type { FilePlace, NewFile } from './file-place.ts';
import { countBytes } from './file-transfer.ts';

export interface DirectoryPlaceOptions {
  readonly home: string;
  readonly store: Store;
  /** Where files are read that are not in this directory: on a store that several machines share. */
  readonly elsewhere: FilePlace | null;
}

export async function openDirectoryPlace({ home, store, elsewhere }: DirectoryPlaceOptions): Promise<FilePlace> {
  const blobs = await openBlobs({ folder: join(home, 'blobs') });
  await mustBelongTo(home, store);
  const attachments = new Attachments(store, blobs);
  const uploads = new AttachmentUploads(store, blobs, { attachments });
  return {
    list: (id) => attachments.list(id),
    async open(id, file, range = {}) {
      const reading = await blobs.read(file.sha256, range);
      if (reading.ok) return reading.stream;
      if (reading.refusal.code === 'not-found') return missing(elsewhere, { home, id, file }).open(id, file, range);
      throw new LonghaulError('bad-input', `file ${file.name} of job ${id}: ${reading.refusal.message}`);
    },
    localPath: (_id, file) => blobs.path(file.sha256),
    put: (file) => put(uploads, file),
    unfinished: (id) => uploads.unfinished(id),
    removeAll: (id) => attachments.removeAll(id),
    async sweep(signal) {
      for await (const owners of attachments.owners()) await removeGone(store, attachments, [...owners.keys()]);
      await blobs.sweep({ referenced: (hashes) => attachments.referenced(hashes), signal });
    },
    async close() {
      await blobs.close();
      await elsewhere?.close();
    },
  };
}

async function removeGone(store: Store, attachments: Attachments, ids: readonly string[]): Promise<void> {
  const found = await store.jobs.find(ids);
  for (const [index, id] of ids.entries()) if (found[index] === null) await attachments.removeAll(id);
}

async function put(uploads: AttachmentUploads, { id, name, content, lease, signal, ...file }: NewFile) {
  checkAttachmentName(name);
  const { size, read } = await openContent(content);
  const source = () => countBytes(read(0), () => file.onBytes?.());
  const put = { id, name, offset: null, length: size, size, sha256: null, lease, signal, source };
  return attached(await uploads.put({ ...put, now: Date.now(), keepsPart: false }), name);
}

function attached(result: FileResult, name: string): Attachment {
  if (result.ok && result.attachment !== null) return result.attachment;
  if (result.ok) throw new Error(`attachment ${name} is incomplete after all of it was read`);
  const { refusal } = result;
  switch (refusal.code) {
    case 'wrong-offset':
    case 'wrong-content':
    case 'too-large':
    case 'superseded':
      throw new LonghaulError('refused', `attachment ${name}: ${refusal.message}`);
    default:
      throw new LonghaulError('refused', `attachment ${name}: ${refusal.message}`, { refusal });
  }
}

interface MissingFile {
  readonly home: string;
  readonly id: string;
  readonly file: Attachment;
}

function missing(elsewhere: FilePlace | null, { home, id, file }: MissingFile): FilePlace {
  if (elsewhere !== null) return elsewhere;
  const where = `file ${file.name} of job ${id} is not in ${home}`;
  const remedy = "if another machine has it, connect with { files: 'http://node:3333', token } of its node";
  throw new LonghaulError('data-corrupt', `${where}: ${remedy}`);
}

/** The first user of a directory writes the identity of its store. */
async function mustBelongTo(home: string, store: Store): Promise<void> {
  const path = join(home, 'store-identity');
  const identity = JSON.stringify(await storeIdentity(store.records));
  const known = (await ifExists(readFile(path, 'utf8'))) ?? (await createWhole(path, identity));
  if (known === identity) return;
  const message = `${home} holds the files of another store: choose another data directory, or delete ${path} if that store no longer exists`;
  throw new LonghaulError('bad-input', message);
}

/** Creates a file that appears with its text. Returns the text of the process that was first. */
async function createWhole(path: string, text: string): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await link(draft, path);
    return text;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return await readFile(path, 'utf8');
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
