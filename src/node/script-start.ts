/**
 * Starts one attempt of a script: the script is checked and its links resolved, the folder made, the mark put, and
 * only then the order given, so that a node that dies at any point finds what it left.
 *
 * What keeps it from starting and is no fault of the job becomes the queue's problem, and the job goes back.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../core/errors.ts';
import type { RunningJob } from '../core/job.ts';
import type { Attempt } from '../runner/attempt.ts';
import { putDeadline } from '../runner/deadline.ts';
import type { Order } from '../runner/order.ts';
import type { AttemptContext, RunOutcome } from '../worker/run-outcome.ts';
import { noteStart } from './attempt-record.ts';
import { checkScript } from './check-script.ts';
import { attemptFolder } from './home.ts';
import { scriptEnvironment } from './script-environment.ts';
import type { ScriptHost } from './script-host.ts';
import { scriptLimits, scriptUser } from './script-order.ts';
import { listenTo } from './script-voice.ts';
import { keepSecrets } from './secrets.ts';
import { giveTo, makeWorkFolder } from './work-folder.ts';

export type Begun = { readonly attempt: Attempt } | { readonly outcome: RunOutcome };

/** The disk is full, or the machine has no room for another process: it may have some later. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

export async function startScript(host: ScriptHost, job: RunningJob, context: AttemptContext): Promise<Begun> {
  try {
    const order = await prepare(host, job);
    if (typeof order === 'string') return waits(host, job, order);
    const started = await host.runner.start(order, listenTo(host, job, context));
    if (started.ok) return { attempt: started.attempt };
    if (started.reason === 'refused') return waits(host, job, started.message);
    return { outcome: { kind: 'release', reason: started.message } };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof LonghaulError ? error.code === 'store-full' : NO_ROOM.has(code))
      return waits(host, job, message);
    throw error;
  }
}

function waits(host: ScriptHost, job: RunningJob, problem: string): Begun {
  host.onScriptProblem(job.queue, problem);
  return { outcome: { kind: 'release', reason: problem } };
}

/** The order, or the problem that its queue has. */
async function prepare(host: ScriptHost, job: RunningJob): Promise<Order | string> {
  const settings = host.settingsFor(job.queue);
  const script = settings.script ?? '';
  const checked = await checkScript(script, [host.home.queues, ...host.node.scriptDirs]);
  if ('problem' in checked) return checked.problem;
  const user = await scriptUser(settings.user);
  if (typeof user === 'string') return user;
  const folder = attemptFolder(host.home, job.id, job.attempt);
  await makeAnew(folder);
  await host.marks.put(job);
  const work = await makeWorkFolder(folder, job, { attachments: host.attachments, settings });
  if (user !== null) await giveTo(work, { user, home: host.home, id: job.id });
  if (host.store.isShared) putDeadline(folder, job.lease.ms);
  await keepSecrets(folder, Object.values(host.secretsOf(job.queue)));
  const argv = withPrefix(settings.execPrefix, checked.real, host.inherited['PATH']);
  await noteStart(folder, { script, realScript: checked.real, argv });
  const place = { work, script, realScript: checked.real };
  return { ...orderFor(host, job, { folder, place, argv }), ...(user !== null && { user }) };
}

/** Without a mark, what is there already is no attempt of this job: the store may have been another one then. */
async function makeAnew(folder: string): Promise<void> {
  if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

interface Wanted {
  readonly folder: string;
  readonly place: { readonly work: string; readonly script: string; readonly realScript: string };
  readonly argv: readonly string[];
}

function orderFor(host: ScriptHost, job: RunningJob, { folder, place, argv }: Wanted): Order {
  const settings = host.settingsFor(job.queue);
  const { node, version, inherited } = host;
  const secrets = host.secretsOf(job.queue);
  return {
    folder,
    cwd: place.work,
    argv,
    env: scriptEnvironment({ job, settings, node, place, version, inherited, secrets }),
    stdin: settings.stdin === 'data' ? join(place.work, 'data.json') : null,
    nice: settings.nice,
    umask: settings.umask,
    limits: scriptLimits(settings.limits),
  };
}

/** The prefix's first word is looked up here: nothing of it ever reaches a shell. */
function withPrefix(prefix: readonly string[], script: string, path = '/usr/bin:/bin'): readonly string[] {
  const [first, ...rest] = prefix;
  if (first === undefined) return [script];
  if (first.startsWith('/')) return [first, ...rest, script];
  const found = path
    .split(':')
    .map((folder) => join(folder, first))
    .find((file) => existsSync(file));
  return [found ?? join('/usr/bin', first), ...rest, script];
}
