/** Takes what an attempt made: every file of `out/`, and what it named by `attach`. Called when no process is left. */
import { realpath } from 'node:fs/promises';
import { basename, isAbsolute, join, sep } from 'node:path';
import type { Blobs } from '../blobs/blobs.ts';
import type { RunningJob } from '../core/job.ts';
import type { Said } from '../runner/said.ts';
import type { Attachments } from './attachments.ts';
import { workFolder } from './work-folder.ts';

export interface OutputHost {
  readonly blobs: Blobs;
  readonly attachments: Attachments;
  onTrouble(what: string, error: unknown): void;
}

export async function takeOutputs(
  host: OutputHost,
  job: RunningJob,
  made: { folder: string; said: Said },
): Promise<void> {
  const work = workFolder(made.folder);
  const { outputs, refused } = await host.blobs.collect(join(work, 'out'));
  for (const { path, sha256, size } of outputs)
    await host.attachments.put(job.id, { name: path, sha256, size, direction: 'out' });
  for (const { path, reason } of refused)
    host.onTrouble(`output ${path} of job ${job.id} was not taken: ${reason}`, null);
  for (const path of made.said.attachments) await takeNamed(host, job, { work, path });
}

/** Only from its own folder: naming a file must not be a way to read what the script itself could not. */
async function takeNamed(
  host: OutputHost,
  job: RunningJob,
  { work, path }: { work: string; path: string },
): Promise<void> {
  const file = isAbsolute(path) ? path : join(work, path);
  const [real, folder] = await Promise.all([realpath(file).catch(() => null), realpath(work)]);
  if (real === null || !real.startsWith(folder + sep)) {
    host.onTrouble(`attach ${path} of job ${job.id}: there is no such file in its work folder`, null);
    return;
  }
  const added = await host.blobs.addFromPath(file);
  if (!added.ok) host.onTrouble(`attach ${path} of job ${job.id}: ${added.refusal.message}`, null);
  else await host.attachments.put(job.id, { name: basename(path), ...added.blob, direction: 'out' });
}
