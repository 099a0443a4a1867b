/**
 * Stores the outputs of an attempt: every file of `out/`, the files it named with `attach`, and a result too large for
 * the store. Called when no process is left. Can be repeated, since the same files are the same blobs.
 */
import { readdirSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { MAX_JSON_BYTES } from '../../core/input/json.ts';
import type { RunningJob } from '../../core/job/job.ts';
import type { Attachments } from '../../files/attachments/attachments.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import { checkAttachmentName } from '../../files/outputs/attachment-name.ts';
import type { RefusedOutput } from '../../files/outputs/list-outputs.ts';
import { RESULT_NAME } from '../../files/outputs/result-file.ts';
import type { Reports } from '../../runner/protocol/reports.ts';
import { OUT, workdirOf } from './workdir.ts';

export interface OutputHost {
  readonly blobs: Blobs;
  readonly attachments: Attachments;
}

export interface OutputSource {
  readonly folder: string;
  readonly reports: Reports;
}

/** Returns the refused outputs, with reasons. */
export async function storeOutputs(
  host: OutputHost,
  job: RunningJob,
  source: OutputSource,
): Promise<readonly RefusedOutput[]> {
  const work = workdirOf(source.folder);
  if (hasNone(work, source.reports)) return [];
  const folder = await stat(work).catch(() => null);
  // An earlier node stored everything already, and died before the settlement.
  if (folder === null) return [];
  const owned = { work, owner: folder.uid };
  const { outputs, refused } = await host.blobs.collect(join(work, OUT), { owner: folder.uid });
  for (const { path, sha256, size } of outputs)
    await host.attachments.put(job.id, { name: path, sha256, size, direction: 'out' });
  const named = await Promise.all(source.reports.attachments.map((path) => storeNamed(host, job, { ...owned, path })));
  await storeLargeResult(host, job, source.reports.result);
  return [...refused, ...named.filter((each) => each !== null)];
}

/** Most attempts have no outputs. */
function hasNone(work: string, { attachments, result }: Reports): boolean {
  if (attachments.length > 0 || (result !== null && isLargeResult(result))) return false;
  try {
    return readdirSync(join(work, OUT)).length === 0;
  } catch {
    return false;
  }
}

export const isLargeResult = (json: string): boolean => Buffer.byteLength(json) > MAX_JSON_BYTES;

async function storeLargeResult(host: OutputHost, job: RunningJob, result: string | null): Promise<void> {
  if (result === null || !isLargeResult(result)) return;
  const added = await host.blobs.addFromStream(Readable.from([Buffer.from(result)]));
  if (added.ok) await host.attachments.put(job.id, { name: RESULT_NAME, ...added.blob, direction: 'out' });
}

/** Only from its own workdir: naming a file must not be a way to read what the script itself could not. */
async function storeNamed(
  host: OutputHost,
  job: RunningJob,
  { work, owner, path }: { work: string; owner: number; path: string },
): Promise<RefusedOutput | null> {
  const file = isAbsolute(path) ? path : join(work, path);
  const [real, folder] = await Promise.all([realpath(file).catch(() => null), realpath(work)]);
  if (real === null || !real.startsWith(folder + sep)) return { path, reason: 'is not a file in its workdir' };
  const name = basename(file);
  try {
    checkAttachmentName(name);
  } catch (error) {
    return { path, reason: (error as Error).message };
  }
  const added = await host.blobs.addFromPath(file, { owner, isSole: true });
  if (!added.ok) return { path, reason: added.refusal.message };
  await host.attachments.put(job.id, { name, ...added.blob, direction: 'out' });
  return null;
}
