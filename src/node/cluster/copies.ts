/**
 * Copies the files of an ended attempt, and the input files of a job, to another node, so that the loss of one node
 * loses no log or file. Copied before the settlement, and before an upload is answered, if they are small and another
 * node is present. This node offers them, and the other node fetches.
 *
 * Must never block a settlement: after any error the job continues without a copy. Secrets stay on their node: the log
 * is copied with secrets masked.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../core/ports/store.ts';
import type { Attachments } from '../../files/attachments/attachments.ts';
import { filesOf, readIfExists } from '../../runner/attempt/attempt-files.ts';
import { readAttemptRecord, recordPath } from '../attempts/attempt-record.ts';
import type { Home } from '../home.ts';
import { attemptFolder } from '../home.ts';
import type { NodeSettings } from '../node-settings.ts';
import type { ProvenEntry } from './node-entry.ts';
import { nodeOfWorker } from './node-entry.ts';
import type { OtherNodes } from './other-nodes.ts';

export interface CopiesOptions {
  readonly home: Home;
  readonly others: OtherNodes;
  readonly attachments: Attachments;
  readonly store: Store;
  /** `copyUpTo`: largest size to copy in bytes; 0: none. */
  readonly settings: Pick<NodeSettings, 'copyUpTo'>;
}

interface CopyKey {
  readonly id: string;
  /** Null: only the job's files. */
  readonly attempt: number | null;
}

/** The small files of an attempt other than its log. */
interface AttemptNotes {
  readonly record: string;
  readonly index: string | null;
  readonly usage: string | null;
}

const OFFER_MS = 10_000;
const MAX_TRIES = 2;
/**
 * A node that has just restarted has another address, and entries may be cached for half a second: other nodes cannot
 * yet fetch what it adopts and offers at once. So it offers again, unless an offer failed recently.
 */
const RETRY_MS = 700;
const MAX_ROUNDS = 3;
const AFTER_FAILURE_MS = 30_000;

export class Copies {
  readonly #options: CopiesOptions;
  /** By the clock of this process: until then an offer is made only once. */
  #failedUntil = 0;

  constructor(options: CopiesOptions) {
    this.#options = options;
  }

  /** Offers the files of an ended attempt. */
  async offerAttempt({ id, attempt }: { readonly id: string; readonly attempt: number }): Promise<void> {
    const { home, store } = this.#options;
    if (!store.isShared) return;
    const log = await stat(filesOf(attemptFolder(home, id, attempt)).log).catch(() => null);
    await this.#offer({ id, attempt }, log?.size ?? 0);
  }

  /** Offers the input files of a job. */
  async offerFiles(id: string): Promise<void> {
    if (this.#options.store.isShared) await this.#offer({ id, attempt: null }, 0);
  }

  /** Fetches what another node offers. Returns null on success, otherwise the reason. */
  async take({ id, attempt }: CopyKey, from: string): Promise<string | null> {
    const { others, attachments } = this.#options;
    const entry = (await others.present()).find((each) => each.id === from);
    if (entry === undefined) return 'the offering node is not known';
    const signal = AbortSignal.timeout(OFFER_MS);
    const missing = await attachments.bring(id, await attachments.list(id), signal);
    if (missing !== null) return missing.words;
    return attempt === null ? null : this.#takeAttempt({ id, attempt }, entry, signal);
  }

  /**
   * Fetches the files of a suspended attempt from the node that ran it last, so that its log continues here. Returns null
   * on success or if they are here, otherwise the reason.
   */
  async bring({ id, attempt }: { readonly id: string; readonly attempt: number }): Promise<string | null> {
    const { home, others, store } = this.#options;
    if (!store.isShared) return null;
    const rows = await store.jobs.history(id);
    const last = rows.findLast((row) => row.event === 'suspended' && row.attempt === attempt);
    const from = nodeOfWorker(last?.by ?? null);
    const own = await readAttemptRecord(attemptFolder(home, id, attempt));
    if (last === undefined || from === null || from === others.id || own?.token === last.token) return null;
    return this.take({ id, attempt }, from);
  }

  /** Returns the files that other nodes fetch together with the log; null when they are not here. */
  notes(id: string, attempt: number): AttemptNotes | null {
    const folder = attemptFolder(this.#options.home, id, attempt);
    const { logIndex, usage } = filesOf(folder);
    const record = readIfExists(recordPath(folder));
    return record === null ? null : { record, index: readIfExists(logIndex), usage: readIfExists(usage) };
  }

  /** Resolves when another node has a copy, or no node takes one. `bytes`: size in addition to the job's files. */
  async #offer(copy: CopyKey, bytes: number): Promise<void> {
    const { attachments, settings } = this.#options;
    const maxBytes = settings.copyUpTo;
    if (maxBytes === 0 || (await this.#present()).length === 0) return;
    const files = await attachments.list(copy.id).catch(() => []);
    if (files.reduce((sum, { size }) => sum + size, bytes) > maxBytes) return;
    const signal = AbortSignal.timeout(OFFER_MS);
    for (let round = 1; !(await this.#isTaken(copy, signal)); round += 1) {
      if (performance.now() < this.#failedUntil) return;
      if (round === MAX_ROUNDS || signal.aborted) {
        this.#failedUntil = performance.now() + AFTER_FAILURE_MS;
        return;
      }
      await sleep(RETRY_MS);
    }
  }

  #present(): Promise<readonly ProvenEntry[]> {
    return this.#options.others.present().catch(() => []);
  }

  async #isTaken(copy: CopyKey, signal: AbortSignal): Promise<boolean> {
    for (const entry of byRank(await this.#present(), copy.id).slice(0, MAX_TRIES)) {
      const reply = await this.#options.others.askOne(entry, { method: 'POST', path: copyPath(copy), signal });
      if (reply.ok) reply.body.resume();
      if (reply.ok && reply.status === 200) return true;
    }
    return false;
  }

  async #takeAttempt(
    { id, attempt }: { id: string; attempt: number },
    entry: ProvenEntry,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { home, others } = this.#options;
    const folder = attemptFolder(home, id, attempt);
    const path = `/api/jobs/${encodeURIComponent(id)}/attempts/${attempt}`;
    const [notes, log] = [
      await others.askOne(entry, { path: `${path}/notes`, signal }),
      await others.askOne(entry, { path: `${path}/log`, signal }),
    ];
    if (!notes.ok || !log.ok) return 'it could not be fetched';
    const draft = join(folder, '..', `.copy-${attempt}-${process.pid}`);
    await mkdir(draft, { recursive: true, mode: 0o700 });
    try {
      await pipeline(log.body, createWriteStream(filesOf(draft).log, { mode: 0o600 }), { signal });
      await writeNotes(draft, JSON.parse(await text(notes.body)) as AttemptNotes);
      // Renamed when complete: a directory with a record counts as an attempt. One that is here has less: the attempt was
      // suspended then.
      await rm(folder, { recursive: true, force: true });
      await rename(draft, folder);
      return null;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
}

async function writeNotes(folder: string, { record, index, usage }: AttemptNotes): Promise<void> {
  const files = filesOf(folder);
  const all = [
    [recordPath(folder), record],
    [files.logIndex, index],
    [files.usage, usage],
  ] as const;
  for (const [path, content] of all) if (content !== null) await writeFile(path, content, { mode: 0o600 });
}

function copyPath({ id, attempt }: CopyKey): string {
  return `/api/jobs/${encodeURIComponent(id)}/copies${attempt === null ? '' : `?attempt=${attempt}`}`;
}

/**
 * A different order for each job, the same on every node, so that copies are spread over the nodes. Draining nodes come
 * last.
 */
function byRank(entries: readonly ProvenEntry[], id: string): readonly ProvenEntry[] {
  const rank = (entry: ProvenEntry): string =>
    `${Number(entry.isDraining)}${createHash('sha256').update(`${id} ${entry.id}`).digest('hex')}`;
  return [...entries].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}
