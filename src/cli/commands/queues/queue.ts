/** `longhaul queue`: which queues there are, and how each is set. */
import { chmod, copyFile, mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { jobsIn } from '../../../core/settings/delete-queue.ts';
import type { SettingsInput } from '../../../core/settings/settings-input.ts';
import { checkQueueName } from '../../../core/settings/settings-input.ts';
import { plural } from '../../../wire/spans.ts';
import { confirm } from '../../output/confirm.ts';
import { print, printJson } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { checkQueueIsKnown, knownQueues } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { sizeOfFile } from '../jobs/whole-file.ts';
import { listQueues, showQueue } from './queue-view.ts';
import { settingsGiven } from './settings-given.ts';

export async function queue(call: Call): Promise<number> {
  const [name, ...words] = call.positionals;
  const settings = settingsGiven(call, words);
  checkWords(call, { name, words });
  return withTarget(call, async (target) => {
    if (name === undefined) return listQueues(call, target);
    if (call.flag('create')) return create(call, target, { name, settings });
    await checkQueueIsKnown(target, name, `; longhaul queue ${name} --create makes it`);
    if (call.flag('delete')) return remove(call, target, name);
    if (words.length > 0) await target.longhaul.queue(name).configure(settings);
    return showQueue(call, target, name);
  });
}

function checkWords(call: Call, { name, words }: { name: string | undefined; words: readonly string[] }): void {
  const isChange = call.flag('create') || call.flag('delete');
  if (name === undefined && isChange) throw call.wrong('NAME is missing');
  if (call.flag('create') && call.flag('delete')) throw call.wrong('--create or --delete, not both');
  if (call.flag('delete') && words.length > 0) throw call.wrong('--delete takes no settings');
  if (call.text('script') !== undefined && !call.flag('create')) throw call.wrong('--script goes with --create');
}

async function create(
  call: Call,
  target: Target,
  { name, settings }: { name: string; settings: SettingsInput },
): Promise<number> {
  checkQueueName(name);
  if ((await knownQueues(target)).includes(name))
    throw new LonghaulError('refused', `there is a queue ${name} already`);
  const script = call.text('script');
  if (script !== undefined) await installScript(target, name, script);
  await target.longhaul.queue(name).configure(settings);
  if (call.flag('json')) return showQueue(call, target, name);
  print(`queue ${name} is there${script === undefined ? '' : `; its script is ${join(target.home.queues, name)}`}`);
  return 0;
}

const SCRIPT_MODE = 0o700;

/** By a rename: a node that looks at the folder meanwhile sees no half of a script. */
async function installScript({ home }: Target, name: string, path: string): Promise<void> {
  await sizeOfFile(path);
  await mkdir(home.queues, { recursive: true, mode: 0o700 });
  const draft = join(home.queues, `.${name}.new`);
  await copyFile(path, draft);
  await chmod(draft, SCRIPT_MODE);
  await rename(draft, join(home.queues, name));
}

/** A script is its owner's to remove: as long as it stands in the home, it is a queue. */
async function remove(call: Call, target: Target, name: string): Promise<number> {
  for (const file of [name, `${name}.json`]) {
    const path = join(target.home.queues, file);
    if ((await stat(path).catch(() => null)) !== null)
      throw new LonghaulError('refused', `${path} makes this queue: remove that file first`);
  }
  const count = jobsIn(await target.longhaul.queue(name).count());
  if (!(await confirm(call, `delete queue ${name} with ${plural(count, 'job')}`))) return 1;
  const { jobs } = await target.longhaul.queue(name).delete({ jobs: true });
  if (call.flag('json')) printJson({ queue: name, deletedJobs: jobs });
  else print(`queue ${name} is gone, with ${plural(jobs, 'job')}`);
  return 0;
}
