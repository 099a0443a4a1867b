/**
 * Uploads of attachments: which upload belongs to which name, which callers may still add one, and when it is complete.
 *
 *     put ─▶ continues at an offset ─▶ put … ─▶ complete: hash verified, attachment written, upload record deleted
 *
 * Invariant: the record of an upload is deleted after its attachment was written. So a committed draft has every
 * attachment that was begun, or the commit is refused.
 */

import type { Refused } from '../../core/ports/refusal.ts';
import { refuse, refuseState } from '../../core/ports/refusal.ts';
import type { Store } from '../../core/ports/store.ts';
import type { BlobRefused } from '../blobs/blob-refusal.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { findLookalikes } from '../outputs/attachment-name.ts';
import type { AppendResult } from '../uploads/upload-calls.ts';
import type { Attachment, Attachments } from './attachments.ts';
import type { FileResult, PutFile, UploadRefused } from './file-upload.ts';
import { refuseUpload, toUploadRefused } from './file-upload.ts';
import type { PendingUpload } from './upload-records.ts';
import { mergeUpload, UploadRecords } from './upload-records.ts';

export interface UploadState {
  readonly offset: number;
  /** Null while the sender has not announced it. */
  readonly size: number | null;
}

export interface AttachmentUploadsOptions {
  readonly attachments: Attachments;
  /** Lets another node keep a copy before the sender gets its answer. */
  readonly copies?: FileCopies;
}

interface FileCopies {
  offerFiles(id: string): Promise<void>;
}

const MAX_ATTACHMENTS = 1_000;
const MAX_TRIES = 10;

export class AttachmentUploads {
  readonly #store: Store;
  readonly #blobs: Blobs;
  readonly #attachments: Attachments;
  readonly #copies: FileCopies | null;
  readonly #records: UploadRecords;

  constructor(store: Store, blobs: Blobs, { attachments, copies }: AttachmentUploadsOptions) {
    this.#store = store;
    this.#blobs = blobs;
    this.#attachments = attachments;
    this.#copies = copies ?? null;
    this.#records = new UploadRecords(store);
  }

  /** Returns the state of the upload of this name; null when there is none. */
  async state(id: string, name: string): Promise<UploadState | null> {
    const known = await this.#records.get(id, name);
    if (known === null) return null;
    const { upload, size } = known.begun;
    return { offset: (await this.#blobs.upload(upload))?.offset ?? 0, size };
  }

  /** Returns all running uploads of this job, with their offsets. */
  async begun(id: string): Promise<readonly { readonly name: string; readonly offset: number }[]> {
    const names = await this.#records.names(id);
    return Promise.all(names.map(async (name) => ({ name, offset: (await this.state(id, name))?.offset ?? 0 })));
  }

  /** Returns why this draft cannot be committed: an upload is incomplete. Null when none is. */
  async unfinished(id: string): Promise<Refused | null> {
    for (const name of await this.#records.names(id)) {
      if (await this.#isAttached(id, name)) continue;
      const { offset, size } = (await this.state(id, name)) ?? { offset: 0, size: null };
      const { refusal } = refuse('wrong-state', `job ${id}`);
      const message = `attachment ${name} of job ${id} is incomplete: ${offset} of ${size ?? 'unknown'} bytes received`;
      return { ok: false, refusal: { ...refusal, message } };
    }
    return null;
  }

  /**
   * Reports whether the announced content is already attached. Its sender lost the answer, began again and was cut off.
   * When it checks again, it finds the attachment and sends no more, so that upload would never end.
   */
  async #isAttached(id: string, name: string): Promise<boolean> {
    const known = await this.#records.get(id, name);
    if (known === null) return true;
    const { sha256, upload } = known.begun;
    const found = sha256 === null ? null : await this.#attachments.get(id, name, directionOf(null));
    if (found?.sha256 !== sha256 || sha256 === null) return false;
    await this.#forget(id, name, upload);
    return true;
  }

  /**
   * Receives a file or a part of it. Throws `store-full`, and the error of a source that is cut off; received bytes are
   * kept for the next put.
   */
  async put(file: PutFile): Promise<FileResult> {
    const refused = await this.#checkPermission(file);
    if (refused !== null) return refused;
    const complete = await this.#findComplete(file);
    if (complete !== null) return { ok: true, attachment: complete };
    const begun = await this.#begin(file);
    if ('refusal' in begun) return begun;
    if (file.keepsPart !== false) return this.#receive(file, begun);
    let result: FileResult | null = null;
    try {
      result = await this.#receive(file, begun);
      return result;
    } finally {
      if (result?.ok !== true) await this.#forget(file.id, file.name, begun.upload);
    }
  }

  async #receive(file: PutFile, begun: PendingUpload): Promise<FileResult> {
    const appended = await this.#append(file, begun.upload);
    if (!appended.ok) return toUploadRefused(appended);
    if (begun.size !== null && appended.offset < begun.size)
      return { ok: true, attachment: null, offset: appended.offset, size: begun.size };
    return this.#finish(file, begun);
  }

  /** A node that died between the last byte and the attachment left an upload that only needs to be finished. */
  async #append({ offset, source, signal }: PutFile, upload: string): Promise<AppendResult> {
    const known = await this.#blobs.upload(upload);
    if (known?.blob && known.offset === offset) return { ok: true, offset };
    return this.#blobs.append(upload, { offset: offset ?? 0, source: source(), signal });
  }

  /** Discards a running upload and removes the attachment. Only for a draft. */
  async remove(id: string, name: string): Promise<{ readonly ok: true } | Refused> {
    const [job] = await this.#store.jobs.find([id]);
    if (job === null || job === undefined) return refuse('not-found', `job ${id}`);
    if (job.state !== 'draft') return refuseState(job, 'attach');
    const known = await this.#records.get(id, name);
    if (known !== null) await this.#forget(id, name, known.begun.upload);
    const isRemoved = await this.#attachments.remove(id, name);
    return isRemoved || known !== null ? { ok: true } : refuse('not-found', `attachment ${name} of job ${id}`);
  }

  /** Checks the permission: a draft accepts files of its producer, a running job those of its lease holder. */
  async #checkPermission({ id, name, lease }: PutFile): Promise<UploadRefused | Refused | null> {
    const [job] = await this.#store.jobs.find([id]);
    if (job === null || job === undefined) return refuse('not-found', `job ${id}`);
    if (lease !== null && job.lease?.token !== lease) return refuse('lease-lost', `job ${id}`);
    if (lease === null && job.state !== 'draft') return refuseState(job, 'attach');
    const known = (await this.#attachments.list(id)).filter(({ direction }) => direction === directionOf(lease));
    const others = known.map((each) => each.name).filter((other) => other !== name);
    if (others.length >= MAX_ATTACHMENTS)
      return refuseUpload('too-large', `a job has at most ${MAX_ATTACHMENTS} attachments`);
    const hasLookalike = findLookalikes([...others, name]).length > 0;
    return hasLookalike
      ? refuseUpload('wrong-content', `the name ${name} looks like the name of another attachment`)
      : null;
  }

  /** Returns the attachment when the answer to the last part was lost and its sender asks again. */
  async #findComplete({ id, name, lease, offset, size, sha256 }: PutFile): Promise<Attachment | null> {
    if (offset === null || offset === 0) return null;
    const found = await this.#attachments.get(id, name, directionOf(lease));
    const isSame = found?.size === offset && found.size === (size ?? found.size);
    const isRight = isSame && found.sha256 === (sha256 ?? found.sha256);
    return isRight && (await this.#records.get(id, name)) === null ? found : null;
  }

  async #begin(file: PutFile): Promise<PendingUpload | UploadRefused> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const known = await this.#records.get(file.id, file.name);
      if (known === null && (file.offset ?? 0) > 0) return refuseUpload('wrong-offset', 'no upload was begun', 0);
      const before = known === null || file.offset === null ? null : known.begun;
      const begun = mergeUpload(file, before);
      if (begun.size !== null && begun.size < (file.offset ?? 0) + (file.length ?? 0))
        return refuseUpload('wrong-content', `the content is longer than the announced ${begun.size} bytes`);
      const answer = await this.#blobs.begin({ id: begun.upload, ...(begun.size !== null && { size: begun.size }) });
      if (!answer.ok) return toUploadRefused(answer);
      // A concurrent call began the same upload first: there is one upload, and the last call takes it over.
      if (!(await this.#records.put(file, begun, known?.version ?? 0))) continue;
      if (known !== null && known.begun.upload !== begun.upload) await this.#blobs.discard(known.begun.upload);
      return begun;
    }
    return refuseUpload('superseded', 'other clients upload the same attachment at the same time');
  }

  async #finish(file: PutFile, { upload, size, sha256 }: PendingUpload): Promise<FileResult> {
    const { id, name, lease } = file;
    const expected = { ...(size !== null && { size }), ...(sha256 !== null && { sha256 }) };
    const finished = await this.#blobs.finish(upload, expected);
    if (!finished.ok) return this.#discardFailed(file, upload, finished);
    const attachment: Attachment = { name, ...finished.blob, direction: directionOf(lease) };
    // Checked again: a large file takes time, and the job may have moved on.
    const refused = await this.#attachments.putIf(id, attachment, () => this.#checkPermission(file));
    if (refused !== null) return refused;
    await this.#copies?.offerFiles(id);
    await this.#forget(id, name, upload);
    return { ok: true, attachment };
  }

  async #discardFailed({ id, name }: PutFile, upload: string, refused: BlobRefused): Promise<UploadRefused> {
    if (refused.refusal.offset === undefined) await this.#forget(id, name, upload);
    return toUploadRefused(refused);
  }

  /** Deletes the record and the upload, unless a later upload of the same name replaced it. */
  async #forget(id: string, name: string, upload: string): Promise<void> {
    await this.#records.forget(id, name, upload);
    await this.#blobs.discard(upload);
  }
}

/** A file without a lease is an input of the producer; with a lease it is an output. */
function directionOf(lease: number | null): Attachment['direction'] {
  return lease === null ? 'in' : 'out';
}
