/**
 * Fetches a file of a job from the node that has it: in one stream that resumes after a cut, even from another node or
 * after a restart. The file is visible only after its hash was verified.
 */

import type { Attachment, SharedFiles } from '../../files/attachments/attachments.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import type { NodeAnswer, OtherNodes } from './other-nodes.ts';

interface WantedFile {
  /** The job's id. */
  readonly id: string;
  readonly file: Attachment;
  /** Nodes that are known to have the file. */
  readonly holders: readonly string[];
  readonly signal: AbortSignal;
}

const PARTIAL = 206;
const WHOLE = 200;
/** Each piece makes progress, or is the last. */
const MAX_PIECES = 10_000;

class FileFetcher {
  readonly #others: OtherNodes;
  readonly #blobs: Blobs;
  readonly #running = new Map<string, Promise<string | null>>();

  constructor(others: OtherNodes, blobs: Blobs) {
    this.#others = others;
    this.#blobs = blobs;
  }

  /** Returns null on success, otherwise the reason. Concurrent requests for the same content share one stream. */
  fetch(wanted: WantedFile): Promise<string | null> {
    const { sha256 } = wanted.file;
    const known = this.#running.get(sha256);
    if (known !== undefined) return known;
    const fetching = this.#fetch(wanted)
      .catch((error: unknown) => (error as Error).message)
      .finally(() => this.#running.delete(sha256));
    this.#running.set(sha256, fetching);
    return fetching;
  }

  async #fetch(wanted: WantedFile): Promise<string | null> {
    const { sha256, size } = wanted.file;
    const except = new Set<string>();
    for (let pieces = 0; pieces < MAX_PIECES; pieces += 1) {
      const begun = await this.#blobs.begin({ id: uploadOf(sha256), size });
      if (!begun.ok) return begun.refusal.message;
      const { offset, blob } = begun.upload;
      if (blob !== null) return null;
      const answer = await this.#others.ask(wanted.holders, requestOf(wanted, offset, except));
      if (!answer.ok) return answer.why;
      const isRight = offset === 0 ? answer.status === WHOLE : answer.status === PARTIAL;
      const problem = isRight ? await this.#take(wanted, offset, answer) : `it answered ${answer.status}`;
      if (problem === null) return null;
      answer.body.destroy();
      // Interrupted with progress: any node that has it may continue from there.
      const now = await this.#blobs.upload(uploadOf(sha256));
      if (now === null || now.offset <= offset) except.add(answer.node.id);
    }
    return `it did not arrive in ${MAX_PIECES} pieces`;
  }

  /** Returns null when it is complete and valid, otherwise the reason. */
  async #take({ file, signal }: WantedFile, offset: number, { body }: NodeAnswer): Promise<string | null> {
    const { sha256, size } = file;
    try {
      const appended = await this.#blobs.append(uploadOf(sha256), { offset, source: body, signal });
      if (!appended.ok) return appended.refusal.message;
      const finished = await this.#blobs.finish(uploadOf(sha256), { sha256, size });
      return finished.ok ? null : finished.refusal.message;
    } catch (error) {
      return (error as Error).message;
    }
  }
}

/** The interface of attachments to the other nodes. */
export function sharedFiles(others: OtherNodes, blobs: Blobs): SharedFiles {
  const fetcher = new FileFetcher(others, blobs);
  return {
    node: others.id,
    fetch: (wanted) => fetcher.fetch(wanted),
    isLost: (holders) => others.areForgotten(holders),
  };
}

function requestOf({ id, file, signal }: WantedFile, offset: number, except: ReadonlySet<string>) {
  const headers = offset === 0 ? {} : { range: `bytes=${offset}-` };
  return { path: attachmentPath(id, file), headers, signal, except };
}

const uploadOf = (sha256: string): string => `from-node-${sha256}`;

export function attachmentPath(id: string, { name, direction }: Pick<Attachment, 'name' | 'direction'>): string {
  return `/api/jobs/${encodeURIComponent(id)}/attachments/${encodeURIComponent(name)}?direction=${direction}`;
}
