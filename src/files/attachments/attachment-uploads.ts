/**
 * Files on their way to a job: which upload belongs to which name, who may still add one, and when it is whole.
 *
 *     put ─▶ goes on at an offset ─▶ put … ─▶ whole: hash checked, then the attachment, then the upload is forgotten
 *
 * Invariant: the record of an upload goes after its attachment has come, so that a draft that is committed has all
 * that was begun, or the commit is refused.
 */

import type { Refused } from '../../core/ports/refusal.ts';
import { refuse, refuseState } from '../../core/ports/refusal.ts';
import type { Store } from '../../core/ports/store.ts';
import type { BlobRefused } from '../blobs/blob-refusal.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { findTwins } from '../outputs/attachment-name.ts';
import type { AppendResult } from '../uploads/upload-calls.ts';
import type { Attachment, Attachments } from './attachments.ts';
import type { FileResult, PutFile, UploadRefused } from './file-upload.ts';
import { refuseUpload, toUploadRefused } from './file-upload.ts';
import type { BegunUpload } from './upload-records.ts';
import { begunBy, UploadRecords } from './upload-records.ts';

export interface UploadState {
  readonly offset: number;
  /** Null where its sender has not said. */
  readonly size: number | null;
}

export interface UploadsInto {
  readonly attachments: Attachments;
  /** Another node keeps a copy before the sender gets its answer. */
  readonly copies?: FileCopies;
}

interface FileCopies {
  offerFiles(id: string): Promise<void>;
}

const MOST_ATTACHMENTS = 1_000;
const MOST_TRIES = 10;

export class AttachmentUploads {
  readonly #store: Store;
  readonly #blobs: Blobs;
  readonly #attachments: Attachments;
  readonly #copies: FileCopies | null;
  readonly #records: UploadRecords;

  constructor(store: Store, blobs: Blobs, { attachments, copies }: UploadsInto) {
    this.#store = store;
    this.#blobs = blobs;
    this.#attachments = attachments;
    this.#copies = copies ?? null;
    this.#records = new UploadRecords(store);
  }

  /** How far the upload of this name has come; null when none is under way. */
  async state(id: string, name: string): Promise<UploadState | null> {
    const known = await this.#records.get(id, name);
    if (known === null) return null;
    const { upload, size } = known.begun;
    return { offset: (await this.#blobs.upload(upload))?.offset ?? 0, size };
  }

  /** All that are under way for this job, with how far each has come. */
  async begun(id: string): Promise<readonly { readonly name: string; readonly offset: number }[]> {
    const names = await this.#records.names(id);
    return Promise.all(names.map(async (name) => ({ name, offset: (await this.state(id, name))?.offset ?? 0 })));
  }

  /** Why this draft cannot be committed yet: something that was begun is not whole. Null when nothing is. */
  async unfinished(id: string): Promise<Refused | null> {
    for (const name of await this.#records.names(id)) {
      if (await this.#isHere(id, name)) continue;
      const { offset, size } = (await this.state(id, name)) ?? { offset: 0, size: null };
      const { refusal } = refuse('wrong-state', `job ${id}`);
      const words = `attachment ${name} of job ${id} is not whole: ${offset} of ${size ?? 'unknown'} bytes have come`;
      return { ok: false, refusal: { ...refusal, message: words } };
    }
    return null;
  }

  /**
   * Whether the very bytes that were announced have come before. Their sender did not hear of it, began once more and was
   * cut; when it looks again it finds them here and sends no more, so that upload would never end.
   */
  async #isHere(id: string, name: string): Promise<boolean> {
    const known = await this.#records.get(id, name);
    if (known === null) return true;
    const { sha256, upload } = known.begun;
    const found = sha256 === null ? null : await this.#attachments.get(id, name, directionBy(null));
    if (found?.sha256 !== sha256 || sha256 === null) return false;
    await this.#forget(id, name, upload);
    return true;
  }

  /** Throws `store-full`, and what the source says when it is cut; what has come by then is kept for the next put. */
  async put(file: PutFile): Promise<FileResult> {
    const refused = await this.#mayPut(file);
    if (refused !== null) return refused;
    const whole = await this.#wholeAlready(file);
    if (whole !== null) return { ok: true, attachment: whole };
    const begun = await this.#begin(file);
    if ('refusal' in begun) return begun;
    const appended = await this.#append(file, begun.upload);
    if (!appended.ok) return toUploadRefused(appended);
    if (begun.size !== null && appended.offset < begun.size)
      return { ok: true, attachment: null, offset: appended.offset, size: begun.size };
    return this.#finish(file, begun);
  }

  /** A node that died between the last byte and the attachment has left an upload that only wants its end. */
  async #append({ offset, source, signal }: PutFile, upload: string): Promise<AppendResult> {
    const known = await this.#blobs.upload(upload);
    if (known?.blob && known.offset === offset) return { ok: true, offset };
    return this.#blobs.append(upload, { offset: offset ?? 0, source: source(), signal });
  }

  /** Gives up what is under way, and removes what is there. Only from a draft. */
  async remove(id: string, name: string): Promise<{ readonly ok: true } | Refused> {
    const [job] = await this.#store.jobs.find([id]);
    if (job === null || job === undefined) return refuse('not-found', `job ${id}`);
    if (job.state !== 'draft') return refuseState(job, 'attach');
    const known = await this.#records.get(id, name);
    if (known !== null) await this.#forget(id, name, known.begun.upload);
    const isRemoved = await this.#attachments.remove(id, name);
    return isRemoved || known !== null ? { ok: true } : refuse('not-found', `attachment ${name} of job ${id}`);
  }

  /** A draft takes what its producer gives, a running job what the holder of its lease has made. */
  async #mayPut({ id, name, lease }: PutFile): Promise<UploadRefused | Refused | null> {
    const [job] = await this.#store.jobs.find([id]);
    if (job === null || job === undefined) return refuse('not-found', `job ${id}`);
    if (lease !== null && job.lease?.token !== lease) return refuse('lease-lost', `job ${id}`);
    if (lease === null && job.state !== 'draft') return refuseState(job, 'attach');
    const known = (await this.#attachments.list(id)).filter(({ direction }) => direction === directionBy(lease));
    const others = known.map((each) => each.name).filter((other) => other !== name);
    if (others.length >= MOST_ATTACHMENTS)
      return refuseUpload('too-large', `a job has at most ${MOST_ATTACHMENTS} attachments`);
    const twin = findTwins([...others, name]).length > 0;
    return twin ? refuseUpload('wrong-content', `the name ${name} looks like that of another attachment`) : null;
  }

  /** The answer to the last piece was lost, and its sender asks again. */
  async #wholeAlready({ id, name, lease, offset, size, sha256 }: PutFile): Promise<Attachment | null> {
    if (offset === null || offset === 0) return null;
    const found = await this.#attachments.get(id, name, directionBy(lease));
    const isSame = found?.size === offset && found.size === (size ?? found.size);
    const isRight = isSame && found.sha256 === (sha256 ?? found.sha256);
    return isRight && (await this.#records.get(id, name)) === null ? found : null;
  }

  async #begin(file: PutFile): Promise<BegunUpload | UploadRefused> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const known = await this.#records.get(file.id, file.name);
      if (known === null && (file.offset ?? 0) > 0) return refuseUpload('wrong-offset', 'no upload is under way', 0);
      const before = known === null || file.offset === null ? null : known.begun;
      const begun = begunBy(file, before);
      if (begun.size !== null && begun.size < (file.offset ?? 0) + (file.length ?? 0))
        return refuseUpload('wrong-content', `more bytes come than the ${begun.size} that were announced`);
      const answer = await this.#blobs.begin({ id: begun.upload, ...(begun.size !== null && { size: begun.size }) });
      if (!answer.ok) return toUploadRefused(answer);
      // Somebody else who began the same at the same time was first: then there is one upload, and the last has it.
      if (!(await this.#records.put(file, begun, known?.version ?? 0))) continue;
      if (known !== null && known.begun.upload !== begun.upload) await this.#blobs.discard(known.begun.upload);
      return begun;
    }
    return refuseUpload('superseded', 'others upload the same attachment at the same time');
  }

  async #finish(file: PutFile, { upload, size, sha256 }: BegunUpload): Promise<FileResult> {
    const { id, name, lease } = file;
    const expected = { ...(size !== null && { size }), ...(sha256 !== null && { sha256 }) };
    const finished = await this.#blobs.finish(upload, expected);
    if (!finished.ok) return this.#spoilt(file, upload, finished);
    // Asked again: a large file takes its time, and the job may have moved on.
    const refused = await this.#mayPut(file);
    if (refused !== null) return refused;
    const attachment: Attachment = { name, ...finished.blob, direction: directionBy(lease) };
    await this.#attachments.put(id, attachment);
    await this.#copies?.offerFiles(id);
    await this.#forget(id, name, upload);
    return { ok: true, attachment };
  }

  async #spoilt({ id, name }: PutFile, upload: string, refused: BlobRefused): Promise<UploadRefused> {
    if (refused.refusal.offset === undefined) await this.#forget(id, name, upload);
    return toUploadRefused(refused);
  }

  /** A later upload of the same name is not ours to forget. */
  async #forget(id: string, name: string, upload: string): Promise<void> {
    await this.#records.forget(id, name, upload);
    await this.#blobs.discard(upload);
  }
}

/** A producer gives; the holder of a lease has made. */
function directionBy(lease: number | null): Attachment['direction'] {
  return lease === null ? 'in' : 'out';
}
