/**
 * Keeps the end of a step that `longhaul step` reports, and answers it.
 *
 * Invariant: the answer follows the store's. A report that is read again after a restart finds its answer, or is kept
 * again, which changes nothing: a step that is done is never overwritten.
 */
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { checked } from '../../../core/input/check.ts';
import type { RunningJob } from '../../../core/job/job.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { Attachment } from '../../../files/attachments/attachments.ts';
import { openForeign } from '../../../files/blobs/foreign-file.ts';
import type { AttemptContext } from '../../../worker/attempt/run-outcome.ts';
import { attemptFolder } from '../../home.ts';
import type { ScriptHost } from '../script-host.ts';
import { workdirOf } from '../workdir.ts';
import {
  answerFolder,
  answerPath,
  KEPT,
  outputName,
  reportPath,
  STREAMS,
  type StepReport,
  stepReport,
  streamPath,
  tryKey,
} from './step-files.ts';
import { scriptSteps } from './step-store.ts';

/** A report carries a result of at most 256 KB, in which every character may be escaped. */
const MAX_REPORT_BYTES = 2 * 1024 * 1024;

interface Reporting {
  readonly job: RunningJob;
  readonly context: AttemptContext;
  readonly key: string;
}

/** Handles the line `step KEY`. */
export async function keepStep(host: ScriptHost, { job, context, key }: Reporting): Promise<void> {
  const folder = attemptFolder(host.home, job.id, job.attempt);
  const work = workdirOf(folder);
  if (existsSync(answerPath(work, key))) return;
  const answer = await keep(host, { job, context, key, work }).catch((error: unknown) => {
    if (!(error instanceof LonghaulError)) host.onTrouble(`a step of job ${job.id} could not be kept`, error);
    return error instanceof Error ? error.message : String(error);
  });
  writeAnswer(folder, answerPath(work, key), answer);
}

/** Returns `KEPT`, or why the step is not kept. */
async function keep(host: ScriptHost, { job, context, key, work }: Reporting & { work: string }): Promise<string> {
  const { uid } = await stat(work);
  const report = await readReport(reportPath(work, key), uid);
  const { name, token, status, attempts, ranMs, failure, isLarge } = report;
  if (tryKey(name, attempts) !== key) return `the report of step ${name} has the wrong key`;
  if (token !== job.lease.token)
    return `its token ${token} is stale: attempt ${job.attempt} of job ${job.id} has token ${job.lease.token}`;
  if (isLarge) await storeOutput(host, { job, context, key, work }, { name, owner: uid });
  const end = status === 'done' ? { result: JSON.stringify(report.result ?? null) } : { failure: failure ?? '' };
  const kept = await scriptSteps(host.store, job, context).keep({
    kind: 'run',
    name,
    status,
    attempts,
    ranMs,
    ...end,
  });
  return kept.ok ? KEPT : kept.refusal.message;
}

/** The script's user may have replaced the file by anything. */
async function readReport(path: string, owner: number): Promise<StepReport> {
  const file = await openForeign(path, { owner, isSole: true });
  if (!file.ok) throw new LonghaulError('bad-input', file.refusal.message);
  try {
    if (file.size > MAX_REPORT_BYTES) throw new LonghaulError('bad-input', `${path} is too large`);
    return checked('report', JSON.parse(await file.handle.readFile('utf8')), stepReport);
  } finally {
    await file.handle.close();
  }
}

/** Before the step is kept: a step that is done has its output. */
async function storeOutput(
  host: ScriptHost,
  { job, context, key, work }: Reporting & { work: string },
  { name, owner }: { name: string; owner: number },
): Promise<void> {
  const { call } = scriptSteps(host.store, job, context);
  const isStale = async () => {
    const [beat] = await host.store.jobs.heartbeat([{ id: job.id, token: job.lease.token }]);
    return beat?.ok === true ? null : (beat?.refusal.message ?? '');
  };
  for (const stream of STREAMS) {
    const added = await host.blobs.addFromPath(streamPath(work, key, stream), { owner, isSole: true });
    if (!added.ok) throw new LonghaulError('bad-input', added.refusal.message);
    const file: Attachment = { name: outputName(name, stream), ...added.blob, direction: 'out' };
    const refused = await call(() => host.attachments.putIf(job.id, file, isStale));
    if (refused !== null) throw new LonghaulError('refused', refused);
  }
}

/** Readable for the user of the script. Renamed when complete. */
function writeAnswer(folder: string, path: string, answer: string): void {
  mkdirSync(answerFolder(folder), { recursive: true });
  writeFileSync(`${path}.new`, `${answer}\n`);
  // Whatever the umask of the node is.
  chmodSync(answerFolder(folder), 0o755);
  chmodSync(`${path}.new`, 0o644);
  renameSync(`${path}.new`, path);
}
