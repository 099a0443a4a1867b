/**
 * One attempt of a script: taken up where an earlier node left it, or started anew; heard; and when it is over, ended
 * completely, its outputs taken, and its end put into the worker's terms.
 *
 * Invariant: what a script says is acted upon in its order, and `heard` is told only after it was.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blobs } from '../blobs/blobs.ts';
import type { RunningJob } from '../core/job.ts';
import type { QueueSettings } from '../core/settings.ts';
import type { Attempt, AttemptListener } from '../runner/attempt.ts';
import { putDeadline } from '../runner/deadline.ts';
import type { Runner } from '../runner/open-runner.ts';
import type { Order } from '../runner/order.ts';
import type { SaidBatch } from '../runner/said-reader.ts';
import type { AttemptContext, RunOutcome } from '../worker/run-outcome.ts';
import { checkScript } from './check-script.ts';
import type { Duplicator } from './duplicate.ts';
import { duplicate } from './duplicate.ts';
import type { Home } from './home.ts';
import { attemptFolder } from './home.ts';
import { takeOutputs } from './outputs.ts';
import type { RunningMarks } from './running-marks.ts';
import { scriptEnvironment } from './script-environment.ts';
import { scriptLimits, scriptUser } from './script-order.ts';
import { scriptOutcome } from './script-outcome.ts';
import { makeWorkFolder, removeWorkFolder } from './work-folder.ts';

export interface ScriptHost extends Duplicator {
  readonly home: Home;
  readonly runner: Runner;
  readonly blobs: Blobs;
  readonly marks: RunningMarks;
  readonly version: string;
  readonly inherited: Readonly<Record<string, string | undefined>>;
  settingsFor(queue: string): QueueSettings;
  /** The queue's script cannot be run as it stands. */
  onScriptProblem(queue: string, problem: string): void;
  onTrouble(what: string, error: unknown): void;
}

export async function runScript(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<RunOutcome> {
  const folder = attemptFolder(host.home, job.id, job.attempt);
  const begun = existsSync(folder) ? await takeUp(host, job, context) : await begin(host, job, context);
  if ('outcome' in begun) return begun.outcome;
  const { attempt } = begun;
  const settings = host.settingsFor(job.queue);
  const stop = (): void =>
    void attempt
      .terminate({ graceMs: settings.graceMs })
      .catch((error: unknown) => host.onTrouble('a script could not be ended', error));
  context.signal.addEventListener('abort', stop, { once: true });
  if (context.signal.aborted) stop();
  const putOff = host.store.isShared ? keepPuttingOff(attempt, job, context) : () => undefined;
  try {
    const end = await attempt.end;
    const { left, means } = await attempt.terminate({ graceMs: settings.graceMs });
    if (left > 0) host.onTrouble(`${left} processes of job ${job.id} are left, known by ${means.join(', ')}`, null);
    await takeOutputs(host, job, { folder, said: end.said });
    await removeWorkFolder(folder);
    return scriptOutcome(end, settings);
  } finally {
    putOff();
    context.signal.removeEventListener('abort', stop);
  }
}

type Begun = { readonly attempt: Attempt } | { readonly outcome: RunOutcome };

async function takeUp(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<Begun> {
  const folder = attemptFolder(host.home, job.id, job.attempt);
  const found = await host.runner.adopt(folder, watching(host, job, context));
  if (found.state === 'never-started')
    return { outcome: { kind: 'release', reason: 'its node ended before it began' } };
  return { attempt: found.attempt };
}

async function begin(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<Begun> {
  const settings = host.settingsFor(job.queue);
  const script = settings.script ?? '';
  const checked = await checkScript(script, [host.home.queues, ...host.node.scriptDirs]);
  if ('problem' in checked) {
    host.onScriptProblem(job.queue, checked.problem);
    return { outcome: { kind: 'release', reason: checked.problem } };
  }
  const folder = attemptFolder(host.home, job.id, job.attempt);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await host.marks.put(job);
  const work = await makeWorkFolder(folder, job, { attachments: host.attachments, settings });
  if (host.store.isShared) putDeadline(folder, job.lease.ms);
  const order = await orderFor(host, job, { folder, work, script, realScript: checked.real });
  const started = await host.runner.start(order, watching(host, job, context));
  if (started.ok) return { attempt: started.attempt };
  return { outcome: { kind: 'release', reason: started.message } };
}

interface Place {
  readonly folder: string;
  readonly work: string;
  readonly script: string;
  readonly realScript: string;
}

async function orderFor(host: ScriptHost, job: RunningJob, place: Place): Promise<Order> {
  const settings = host.settingsFor(job.queue);
  const { node, version, inherited } = host;
  const user = await scriptUser(settings.user);
  return {
    folder: place.folder,
    cwd: place.work,
    argv: await withPrefix(settings.execPrefix, place.realScript, inherited['PATH']),
    env: scriptEnvironment({ job, settings, node, place, version, inherited }),
    stdin: settings.stdin === 'data' ? join(place.work, 'data.json') : null,
    nice: settings.nice,
    umask: settings.umask,
    limits: scriptLimits(settings.limits),
    ...(user !== null && { user }),
  };
}

/** The prefix's first word is looked up here: nothing of it ever reaches a shell. */
async function withPrefix(
  prefix: readonly string[],
  script: string,
  path = '/usr/bin:/bin',
): Promise<readonly string[]> {
  const [first, ...rest] = prefix;
  if (first === undefined) return [script];
  if (first.startsWith('/')) return [first, ...rest, script];
  const found = path
    .split(':')
    .map((folder) => join(folder, first))
    .find((file) => existsSync(file));
  return [found ?? join('/usr/bin', first), ...rest, script];
}

function watching(
  host: ScriptHost,
  job: RunningJob,
  context: AttemptContext,
): { listener: AttemptListener; maxLogBytes?: number } {
  const { logBytes } = host.settingsFor(job.queue).limits;
  let attempt: Attempt | null = null;
  const listener: AttemptListener = {
    onStarted: (record) => context.started(record.script?.pid ?? record.shim.pid),
    onOutput: () => context.alive(),
    onSaid: async (batch) => {
      context.alive();
      attempt ??=
        host.runner.attempts().find(({ folder }) => folder === attemptFolder(host.home, job.id, job.attempt)) ?? null;
      await act(host, { job, context, attempt }, batch);
      attempt?.heard(batch.to);
    },
  };
  return logBytes === null ? { listener, maxLogBytes: Number.MAX_SAFE_INTEGER } : { listener, maxLogBytes: logBytes };
}

interface Speaker {
  readonly job: RunningJob;
  readonly context: AttemptContext;
  readonly attempt: Attempt | null;
}

/** Acts on what asks for something at once; completions wait for the end. */
async function act(host: ScriptHost, { job, context, attempt }: Speaker, batch: SaidBatch): Promise<void> {
  for (const { verb, at } of batch.heard) {
    if (verb.kind === 'dup')
      attempt?.answer(await duplicate(host, { job, dest: verb.dest, delayMs: verb.delayMs, at }));
    if (verb.kind === 'checkpoint') void context.checkpoint(verb.json).catch(() => undefined);
    if (verb.kind === 'tag')
      await host.store.jobs.change([{ id: job.id, tags: [...new Set([...job.tags, ...batch.said.tags])] }]);
  }
  const { progress, status } = batch.said;
  context.progress(progress?.percent ?? null, status ?? progress?.text ?? null);
}

/** As long as the lease is renewed, the deadline is put off: where other nodes share the store, nobody runs it twice. */
function keepPuttingOff(attempt: Attempt, job: RunningJob, context: AttemptContext): () => void {
  const timer = setInterval(() => {
    context.heartbeatNow().then(
      () => putDeadline(attempt.folder, job.lease.ms),
      () => undefined,
    );
  }, job.lease.ms / 4);
  return () => clearInterval(timer);
}
