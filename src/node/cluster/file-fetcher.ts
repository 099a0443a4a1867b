/**
 * Brings a file of a job from the node that has it: in one stream, gone on with where it was cut, also from another node
 * or after a restart, and seen here only once its hash is right.
 */

import type { Attachment, SharedFiles } from '../../files/attachments/attachments.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import type { NodeAnswer, OtherNodes } from './other-nodes.ts';

interface WantedFile {
  /** The job that it belongs to. */
  readonly id: string;
  readonly file: Attachment;
  /** Nodes that are known to have had it. */
  readonly holders: readonly string[];
  readonly signal: AbortSignal;
}

const PARTIAL = 206;
const WHOLE = 200;
/** Each one of them brings some of it, or is the last. */
const MOST_PIECES = 10_000;

class FileFetcher {
  readonly #others: OtherNodes;
  readonly #blobs: Blobs;
  readonly #underWay = new Map<string, Promise<string | null>>();

  constructor(others: OtherNodes, blobs: Blobs) {
    this.#others = others;
    this.#blobs = blobs;
  }

  /** Null when it is here; else why not. Several jobs that want the same content wait for the same stream. */
  fetch(wanted: WantedFile): Promise<string | null> {
    const { sha256 } = wanted.file;
    const known = this.#underWay.get(sha256);
    if (known !== undefined) return known;
    const fetching = this.#fetch(wanted)
      .catch((error: unknown) => (error as Error).message)
      .finally(() => this.#underWay.delete(sha256));
    this.#underWay.set(sha256, fetching);
    return fetching;
  }

  async #fetch(wanted: WantedFile): Promise<string | null> {
    const { sha256, size } = wanted.file;
    const except = new Set<string>();
    for (let pieces = 0; pieces < MOST_PIECES; pieces += 1) {
      const begun = await this.#blobs.begin({ id: uploadOf(sha256), size });
      if (!begun.ok) return begun.refusal.message;
      const { offset, blob } = begun.upload;
      if (blob !== null) return null;
      const answer = await this.#others.ask(wanted.holders, questionOf(wanted, offset, except));
      if (!answer.ok) return answer.why;
      const isRight = offset === 0 ? answer.status === WHOLE : answer.status === PARTIAL;
      const trouble = isRight ? await this.#take(wanted, offset, answer) : `it answered ${answer.status}`;
      if (trouble === null) return null;
      answer.body.destroy();
      // Cut on its way, and further than before: whoever has it goes on from there.
      const now = await this.#blobs.upload(uploadOf(sha256));
      if (now === null || now.offset <= offset) except.add(answer.node.id);
    }
    return `it did not come in ${MOST_PIECES} pieces`;
  }

  /** Null when it is whole and right; else what was wrong. */
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

/** What an attachment needs of the other nodes. */
export function sharedFiles(others: OtherNodes, blobs: Blobs): SharedFiles {
  const fetcher = new FileFetcher(others, blobs);
  return {
    node: others.id,
    fetch: (wanted) => fetcher.fetch(wanted),
    isLost: (holders) => others.areForgotten(holders),
  };
}

function questionOf({ id, file, signal }: WantedFile, offset: number, except: ReadonlySet<string>) {
  const headers = offset === 0 ? {} : { range: `bytes=${offset}-` };
  return { path: attachmentPath(id, file), headers, signal, except };
}

const uploadOf = (sha256: string): string => `from-node-${sha256}`;

export function attachmentPath(id: string, { name, direction }: Pick<Attachment, 'name' | 'direction'>): string {
  return `/api/jobs/${encodeURIComponent(id)}/attachments/${encodeURIComponent(name)}?direction=${direction}`;
}
