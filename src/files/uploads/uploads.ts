/**
 * Resumable uploads. The length of the partial file is the authoritative offset. The hash of its content is cached
 * between appends and rebuilt by reading after a restart.
 *
 *     begin ─▶ append … append ─▶ finish ─▶ a blob
 *                 ▲ cut, crash │     └ wrong hash, too long: deleted; too short: continues
 *                 └────────────┘
 *
 * It must never show a byte under a hash that it was not part of. One process at a time uses an upload.
 */
import type { Hash } from 'node:crypto';
import { type FileHandle, rm, stat } from 'node:fs/promises';
import { refuseBlob } from '../blobs/blob-refusal.ts';
import type { AddBlobResult, BlobStore } from '../blobs/blob-store.ts';
import { checkExpected, type Expected } from '../blobs/expected-content.ts';
import { ifExists, withDiskErrors } from '../blobs/file-errors.ts';
import { checkUploadId, randomName } from '../blobs/layout.ts';
import { createFile, openFile } from '../blobs/own-file.ts';
import { SyncFailed } from '../blobs/sync-file.ts';
import { ActiveUploads } from './active-uploads.ts';
import { findFinished, finishUpload } from './finish-upload.ts';
import { HashCache } from './hash-cache.ts';
import { type Received, receive } from './receive.ts';
import type { Append, AppendResult, BeginOptions, BeginResult, UploadStatus } from './upload-calls.ts';

export class Uploads {
  readonly #blobStore: BlobStore;
  readonly #active = new ActiveUploads();
  readonly #hashes = new HashCache();

  constructor(blobStore: BlobStore) {
    this.#blobStore = blobStore;
  }

  async begin({ id = randomName(), size = 0 }: BeginOptions = {}): Promise<BeginResult> {
    checkUploadId(id);
    checkExpected({ size });
    const { maxBytes, space, layout } = this.#blobStore;
    if (size > maxBytes) return tooLarge(maxBytes);
    const known = await this.status(id);
    if (known?.blob) return { ok: true, upload: known };
    await space.check(Math.max(0, size - (known?.offset ?? 0)));
    return withDiskErrors('while beginning an upload', async () => {
      await (await createFile(layout.partial(id)))?.close();
      return { ok: true, upload: (await this.status(id)) ?? { id, offset: 0, blob: null } };
    });
  }

  /** Returns null for an upload that was never begun, was discarded, or was removed after a long idle time. */
  async status(id: string): Promise<UploadStatus | null> {
    const partial = await ifExists(stat(this.#blobStore.layout.partial(checkUploadId(id))));
    if (partial !== null) return { id, offset: partial.size, blob: null };
    const blob = await findFinished(this.#blobStore, id);
    return blob === null ? null : { id, offset: blob.size, blob };
  }

  /**
   * Appends to an upload, and aborts an earlier append to it. Throws the error of the source or the disk; `status` then
   * has the offset.
   */
  async append(id: string, { offset, source, signal }: Append): Promise<AppendResult> {
    return this.#exclusively(id, async (handle, superseded) => {
      if (handle === null) return noUpload(id);
      const { size } = await handle.stat();
      if (offset !== size)
        return refuseBlob('wrong-offset', `upload ${id} continues at offset ${size}, not ${offset}`, size);
      const { space, maxBytes } = this.#blobStore;
      await space.check(0);
      const hash = await this.#hashes.take(id, handle, size);
      const either = signal === undefined ? superseded : AbortSignal.any([signal, superseded]);
      const options = { handle, hash, position: size, maxBytes, space, signal: either };
      return this.#appendResult(id, { hash, superseded, received: await receive(source, options) });
    });
  }

  /** Finishes an upload. Can be repeated: a finished upload returns its blob. */
  async finish(id: string, expected: Expected = {}): Promise<AddBlobResult> {
    checkExpected(expected);
    return this.#exclusively(id, async (handle) => {
      if (handle === null) return (await this.#finishAgain(id, expected)) ?? noUpload(id);
      const { size } = await handle.stat();
      if (size < (expected.size ?? 0)) {
        return refuseBlob('wrong-size', `upload ${id} has ${size} of ${expected.size} bytes`, size);
      }
      const sha256 = (await this.#hashes.take(id, handle, size)).digest('hex');
      const finished = await finishUpload(this.#blobStore, id, { handle, sha256, size, expected });
      if (!finished.ok) await this.#remove(id);
      return finished;
    });
  }

  /** Discards an upload, also a finished one: the id becomes free. The blob stays. */
  async discard(id: string): Promise<void> {
    await this.#exclusively(id, () => this.#remove(id));
  }

  async close(): Promise<void> {
    await this.#active.close();
  }

  async #appendResult(
    id: string,
    { hash, superseded, received }: { hash: Hash; superseded: AbortSignal; received: Received },
  ): Promise<AppendResult> {
    if (received.end === 'too-large') {
      await this.#remove(id);
      return tooLarge(this.#blobStore.maxBytes);
    }
    this.#hashes.put(id, hash, received.length);
    if (received.end === 'whole') return { ok: true, offset: received.length };
    if (superseded.aborted) return refuseBlob('superseded', `a later call took over upload ${id}`, received.length);
    throw received.error;
  }

  async #finishAgain(id: string, expected: Expected): Promise<AddBlobResult | null> {
    const blob = await findFinished(this.#blobStore, id);
    if (blob === null) return null;
    const isSame = blob.sha256 === (expected.sha256 ?? blob.sha256) && blob.size === (expected.size ?? blob.size);
    return isSame
      ? { ok: true, blob }
      : refuseBlob('wrong-hash', `upload ${id} was finished with SHA-256 ${blob.sha256}`);
  }

  async #exclusively<T>(
    id: string,
    work: (handle: FileHandle | null, superseded: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { layout, busy } = this.#blobStore;
    const path = layout.partial(checkUploadId(id));
    const openAndWork = async (superseded: AbortSignal) => {
      const handle = await openFile(path);
      busy.add(path);
      try {
        return await work(handle, superseded);
      } catch (error) {
        if (error instanceof SyncFailed) await this.#remove(id);
        throw error;
      } finally {
        busy.delete(path);
        await handle?.close();
      }
    };
    return this.#active.run(id, (superseded) =>
      withDiskErrors(`while writing upload ${id}`, () => openAndWork(superseded)),
    );
  }

  async #remove(id: string): Promise<void> {
    this.#hashes.forget(id);
    await rm(this.#blobStore.layout.partial(id), { force: true });
    await rm(this.#blobStore.layout.receipt(id), { force: true });
  }
}

const tooLarge = (maxBytes: number) => refuseBlob('too-large', `an attachment has at most ${maxBytes} bytes`);
const noUpload = (id: string) => refuseBlob('not-found', `upload ${id} does not exist`);
