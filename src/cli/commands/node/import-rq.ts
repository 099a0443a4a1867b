/**
 * `longhaul import --from-rq DIR`: imports queues and messages of an RQ directory with attachments and logs. Only reads
 * the source. Needs a data directory on which no node runs: files are copied into it, and ended jobs are written as such.
 */
import { createReadStream } from 'node:fs';
import { constants, copyFile, mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { deletedQueues } from '../../../core/settings/delete-queue.ts';
import { QUEUE_RECORD, settingsIn } from '../../../core/settings/settings.ts';
import { checkQueueName } from '../../../core/settings/settings-input.ts';
import { Attachments } from '../../../files/attachments/attachments.ts';
import type { Blobs } from '../../../files/blobs/blobs.ts';
import { openBlobs } from '../../../files/blobs/open-blobs.ts';
import { nameProblem } from '../../../files/outputs/attachment-name.ts';
import { ONLY_JOBS } from '../../../importers/foreign-job.ts';
import type { ImportOptions, ImportResult } from '../../../importers/import-jobs.ts';
import { importJobs } from '../../../importers/import-jobs.ts';
import type { RqQueue, RqSource } from '../../../importers/read-rq.ts';
import { exists, readRq, runningManager } from '../../../importers/read-rq.ts';
import type { FoundMessage } from '../../../importers/rq-message.ts';
import { copyOne } from '../../../node/backup/copy-file.ts';
import type { Home } from '../../../node/home.ts';
import { attemptFolder } from '../../../node/home.ts';
import { readQueueFile } from '../../../node/queues/queue-file.ts';
import { rqHooks } from '../../../node/webhooks/rq-webhook.ts';
import { filesOf } from '../../../runner/attempt/attempt-files.ts';
import type { Target } from '../../target/open-target.ts';

export interface RqImportResult extends ImportResult {
  readonly queues: number;
  readonly attachments: number;
  readonly logs: number;
  /** Directories of scripts that the node does not run scripts from yet. */
  readonly scriptDirs: readonly string[];
}

export type ImportTarget = Pick<Target, 'longhaul' | 'home' | 'address'>;
type Options = Pick<ImportOptions, 'isDryRun' | 'now' | 'importId' | 'onProgress'>;

export async function importRq(directory: string, target: ImportTarget, options: Options): Promise<RqImportResult> {
  const root = resolve(directory);
  const found = await readRq(root);
  const pid = await runningManager(root);
  if (pid !== null && !options.isDryRun)
    throw new LonghaulError('refused', `RQ runs on ${root} (pid ${pid}): stop it first with bin/rq-mgr stop`);
  if (/^(unix|https?):/.test(target.address))
    throw new LonghaulError('refused', `a node runs on ${target.home.root}: stop it, import, and start it again`);
  const { home, longhaul } = target;
  const blobs = options.isDryRun ? null : await openBlobs({ folder: home.blobs });
  try {
    const files = new MessageFileCopier({ home, blobs, found: byId(found.messages), store: longhaul.store });
    const unmapped = [...found.unmapped];
    const queues = await addQueues(found, target, options, unmapped);
    const jobs = found.messages.map(({ job, webhooks }) => ({
      ...job,
      policy: { ...job.policy, ...rqHooks(webhooks) },
    }));
    const result = await importJobs(
      { ...ONLY_JOBS, jobs, unmapped },
      {
        ...options,
        store: longhaul.store,
        origin: `RQ at ${root}`,
        takesRunning: true,
        prepare: ({ id }) => files.copy(id),
      },
    );
    if (!options.isDryRun) for (const queue of found.queues) await applyState(target, queue);
    const { schedules, scriptDirs } = queues;
    const imported = { ...result.imported, schedules };
    return { ...result, imported, queues: queues.added.length, scriptDirs, ...files.copied };
  } finally {
    await blobs?.close();
  }
}

const byId = (messages: readonly FoundMessage[]): ReadonlyMap<string, FoundMessage> =>
  new Map(messages.map((message) => [message.job.id, message]));

interface AddedQueues {
  readonly added: readonly RqQueue[];
  readonly schedules: number;
  readonly scriptDirs: readonly string[];
}

/** Writes the settings of each queue as `queues/<name>.json`, in RQ's format. An existing file stays unchanged. */
async function addQueues(
  { queues }: RqSource,
  { home, longhaul }: ImportTarget,
  { isDryRun }: Options,
  unmapped: string[],
): Promise<AddedQueues> {
  const deleted = await deletedQueues(longhaul.store);
  const [added, scriptDirs]: [RqQueue[], Set<string>] = [[], new Set()];
  let schedules = 0;
  if (!isDryRun) await mkdir(home.queues, { recursive: true, mode: 0o700 });
  for (const queue of queues) {
    const path = join(home.queues, `${queue.name}.json`);
    const json = `${JSON.stringify(queue.config, null, 2)}\n`;
    if (deleted.has(queue.name))
      unmapped.push(`settings of queue ${queue.name}: it was deleted here, and stays deleted`);
    else if (await exists(path)) continue;
    else {
      try {
        checkQueueName(queue.name);
        schedules += Object.keys(readQueueFile(path, json).schedules).length;
        // The form first: a repeated import skips a queue that has its settings.
        if (!isDryRun) await copyForm(home, queue);
        if (!isDryRun) await writeFile(path, json, { flag: 'wx', mode: 0o600 });
        added.push(queue);
        if (typeof queue.config['script'] === 'string') scriptDirs.add(dirname(queue.config['script']));
      } catch (error) {
        if (!(error instanceof LonghaulError)) throw error;
        unmapped.push(`settings of queue ${queue.name}: ${error.message}`);
      }
    }
  }
  return { added, schedules, scriptDirs: [...scriptDirs].filter((dir) => dir !== home.queues) };
}

/** After its messages were added: a queue that is down accepts none. A state that was set here stays. */
async function applyState({ longhaul }: ImportTarget, { name, state }: RqQueue): Promise<void> {
  const set = settingsIn(await longhaul.store.records.get(QUEUE_RECORD, name));
  if (state !== 'up' && set?.state === undefined)
    await longhaul.queue(name).configure({ state, note: 'imported from RQ' });
}

/** Copies the labels of the form for a new message. */
async function copyForm(home: Home, { name, form }: RqQueue): Promise<void> {
  if (form === null) return;
  const folder = join(home.rqQueues, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await copyFile(form, join(folder, 'form.json'), constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

interface CopierOptions {
  readonly home: Home;
  /** Null in a dry run. */
  readonly blobs: Blobs | null;
  readonly found: ReadonlyMap<string, FoundMessage>;
  readonly store: ImportTarget['longhaul']['store'];
}

/** Copies the files of messages: attachments as inputs, the log as the log of the first attempt. */
class MessageFileCopier {
  readonly copied = { attachments: 0, logs: 0 };
  readonly #options: CopierOptions;

  constructor(options: CopierOptions) {
    this.#options = options;
  }

  /** Returns why the message cannot be imported, or null. A repeated copy gives the same files. */
  async copy(id: string): Promise<string | null> {
    const message = this.#options.found.get(id);
    if (message === undefined || this.#options.blobs === null) return null;
    const { attachments, log } = message.files;
    const wrong = attachments.find(({ name }) => nameProblem(name) !== null);
    if (wrong !== undefined) return `attachment ${JSON.stringify(wrong.name)}: the name ${nameProblem(wrong.name)}`;
    for (const { name, path } of attachments) {
      const problem = await this.#attach(id, { name, path, direction: 'in' });
      if (problem !== null) return problem;
      this.copied.attachments += 1;
    }
    if (log !== null) {
      const problem = await this.#keepLog(message, log);
      if (problem !== null) return problem;
      this.copied.logs += 1;
    }
    return null;
  }

  /** A message that waits has run already: the log becomes an output, since its next attempt here is the first. */
  async #keepLog({ job: { id, attempt } }: FoundMessage, log: string): Promise<string | null> {
    if (attempt === 0) return this.#attach(id, { name: 'stdio.log', path: log, direction: 'out' });
    const to = filesOf(attemptFolder(this.#options.home, id, attempt)).log;
    await copyOne(log, `${to}.importing`, 'copy');
    await rename(`${to}.importing`, to);
    return null;
  }

  async #attach(id: string, file: { name: string; path: string; direction: 'in' | 'out' }): Promise<string | null> {
    const { blobs, store } = this.#options;
    if (blobs === null) return null;
    const { name, path, direction } = file;
    const { size } = await stat(path);
    const added = await blobs.addFromStream(createReadStream(path), { size });
    if (!added.ok) return `attachment ${name}: ${added.refusal.message}`;
    await new Attachments(store, blobs).put(id, { name, ...added.blob, direction });
    return null;
  }
}
