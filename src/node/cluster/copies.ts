/**
 * A second copy of what a finished attempt leaves, and of what a job is given, on another node: so that one node's end
 * takes no log and no file with it. Made before the attempt is settled and before an upload is answered, as long as it is
 * small and another node is there; it is asked for, and the other node fetches.
 *
 * Must never keep an attempt from being settled: whatever goes wrong here, the job goes on without a copy. Secrets stay on
 * the node that has them: the log is copied as it may be shown.
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
import { filesOf, readIfThere } from '../../runner/attempt/attempt-files.ts';
import { recordPath } from '../attempts/attempt-record.ts';
import type { Home } from '../home.ts';
import { attemptFolder } from '../home.ts';
import type { NodeSettings } from '../node-settings.ts';
import type { ProvenEntry } from './node-entry.ts';
import type { OtherNodes } from './other-nodes.ts';

export interface CopiesOptions {
  readonly home: Home;
  readonly others: OtherNodes;
  readonly attachments: Attachments;
  readonly store: Store;
  /** `copyUpTo`: more bytes than this are not copied; 0: nothing is. */
  readonly settings: Pick<NodeSettings, 'copyUpTo'>;
}

interface CopyOf {
  readonly id: string;
  /** Null: of its files alone. */
  readonly attempt: number | null;
}

/** The small files of an attempt beside its log, as text. */
interface AttemptNotes {
  readonly record: string;
  readonly index: string | null;
  readonly usage: string | null;
}

const OFFER_MS = 10_000;
const MOST_TRIES = 2;
/**
 * One who has just come back is at another address, and what others know of it may be half a second old: they could not
 * fetch what it took up and offers at once. So it is offered again, but not by somebody who did so in vain a moment ago.
 */
const AGAIN_MS = 700;
const MOST_ROUNDS = 3;
const IN_VAIN_MS = 30_000;

export class Copies {
  readonly #options: CopiesOptions;
  /** By the clock of this process; until then nobody is asked twice. */
  #inVainUntil = 0;

  constructor(options: CopiesOptions) {
    this.#options = options;
  }

  /** Of one that has ended. */
  async offerAttempt({ id, attempt }: { readonly id: string; readonly attempt: number }): Promise<void> {
    const { home, store } = this.#options;
    if (!store.isShared) return;
    const log = await stat(filesOf(attemptFolder(home, id, attempt)).log).catch(() => null);
    await this.#offer({ id, attempt }, log?.size ?? 0);
  }

  /** Of what a job was given. */
  async offerFiles(id: string): Promise<void> {
    if (this.#options.store.isShared) await this.#offer({ id, attempt: null }, 0);
  }

  /** Fetches what another node offers. Null when it is here; else why not. */
  async take({ id, attempt }: CopyOf, from: string): Promise<string | null> {
    const { others, attachments } = this.#options;
    const entry = (await others.present()).find((each) => each.id === from);
    if (entry === undefined) return 'nobody knows who offers it';
    const signal = AbortSignal.timeout(OFFER_MS);
    const missing = await attachments.bring(id, await attachments.list(id), signal);
    if (missing !== null) return missing.words;
    return attempt === null ? null : this.#takeAttempt({ id, attempt }, entry, signal);
  }

  /** What others fetch beside the log. Null when it is not here. */
  notes(id: string, attempt: number): AttemptNotes | null {
    const folder = attemptFolder(this.#options.home, id, attempt);
    const { logIndex, usage } = filesOf(folder);
    const record = readIfThere(recordPath(folder));
    return record === null ? null : { record, index: readIfThere(logIndex), usage: readIfThere(usage) };
  }

  /** Resolved when another node has it, or nobody can be had who takes it. `bytes`: how much there is beside its files. */
  async #offer(copy: CopyOf, bytes: number): Promise<void> {
    const { attachments, settings } = this.#options;
    const most = settings.copyUpTo;
    if (most === 0 || (await this.#present()).length === 0) return;
    const files = await attachments.list(copy.id).catch(() => []);
    if (files.reduce((sum, { size }) => sum + size, bytes) > most) return;
    const signal = AbortSignal.timeout(OFFER_MS);
    for (let round = 1; !(await this.#isTaken(copy, signal)); round += 1) {
      if (performance.now() < this.#inVainUntil) return;
      if (round === MOST_ROUNDS || signal.aborted) {
        this.#inVainUntil = performance.now() + IN_VAIN_MS;
        return;
      }
      await sleep(AGAIN_MS);
    }
  }

  #present(): Promise<readonly ProvenEntry[]> {
    return this.#options.others.present().catch(() => []);
  }

  async #isTaken(copy: CopyOf, signal: AbortSignal): Promise<boolean> {
    for (const entry of inOrder(await this.#present(), copy.id).slice(0, MOST_TRIES)) {
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
      // Only whole: a folder with a record in it counts as what it says.
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

function copyPath({ id, attempt }: CopyOf): string {
  return `/api/jobs/${encodeURIComponent(id)}/copies${attempt === null ? '' : `?attempt=${attempt}`}`;
}

/** Another order for each job, the same for whoever asks: copies are spread over the nodes. Those that drain come last. */
function inOrder(entries: readonly ProvenEntry[], id: string): readonly ProvenEntry[] {
  const rank = (entry: ProvenEntry): string =>
    `${Number(entry.isDraining)}${createHash('sha256').update(`${id} ${entry.id}`).digest('hex')}`;
  return [...entries].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}
