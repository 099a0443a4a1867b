/** Files at a node, over its HTTP API: uploads and downloads resume after a cut and a restart of the node. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../core/ports/store.ts';
import { type Attachment, listAttachments } from '../../files/attachments/attachments.ts';
import { checkAttachmentName } from '../../files/outputs/attachment-name.ts';
import { downloadFile } from './download-file.ts';
import { isRepeatable, openContent, type RepeatableContent } from './file-content.ts';
import type { FilePlace, NewFile } from './file-place.ts';
import { writeAtomically } from './file-transfer.ts';
import { createHttpCaller, type HttpCaller } from './http-caller.ts';
import { uploadFile } from './upload-file.ts';

export interface NodePlaceOptions {
  /** http://host:port, https://host:port, or unix:/path/of/node.sock */
  readonly address: string;
  readonly token: string | undefined;
  /** The store that the node shares with this connection; null if the connection itself goes through the node. */
  readonly store: Store | null;
}

export function openNodePlace({ address, token, store }: NodePlaceOptions): FilePlace {
  const caller = createHttpCaller(address, token);
  return {
    list: (id) => (store === null ? listAtNode(caller, id) : listAttachments(store, id)),
    open: async (id, file, range) => downloadFile(caller, { id, file, range }),
    localPath: async () => null,
    put: (file) => put(caller, file),
    // The node refuses such a commit itself.
    unfinished: async () => null,
    // The node removes them when it learns of the deletion.
    removeAll: async () => undefined,
    sweep: async () => undefined,
    close: async () => caller.close(),
  };
}

async function listAtNode(caller: HttpCaller, id: string): Promise<readonly Attachment[]> {
  const response = await caller.call('GET', `/api/jobs/${encodeURIComponent(id)}/attachments`, { expects: [200, 404] });
  if (response.status === 200) return ((await response.json()) as { attachments: readonly Attachment[] }).attachments;
  await response.bytes();
  return [];
}

async function put(caller: HttpCaller, { id, name, content, lease, signal, ...file }: NewFile): Promise<Attachment> {
  checkAttachmentName(name);
  const opened = await openContent(content);
  const send = (repeatable: RepeatableContent): Promise<Attachment> =>
    uploadFile(caller, { id, name, content: repeatable, lease, signal, onBytes: () => file.onBytes?.() });
  return isRepeatable(opened) ? send(opened) : withCopy(opened.read(0), send);
}

/** Copies a stream to a temporary file first: after a cut it could not be read again. */
async function withCopy<T>(
  source: AsyncIterable<Uint8Array>,
  use: (copy: RepeatableContent) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'longhaul-upload-'));
  try {
    const path = join(directory, 'content');
    await writeAtomically(path, source);
    return await use((await openContent(path)) as RepeatableContent);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
