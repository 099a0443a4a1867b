/** `longhaul queue`: lists, shows, configures, creates and deletes queues. */
import { chmod, copyFile, mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { totalJobs } from '../../../core/settings/delete-queue.ts';
import type { SettingsInput } from '../../../core/settings/settings-input.ts';
import { checkQueueName } from '../../../core/settings/settings-input.ts';
import { fileSize } from '../../../library/files/file-transfer.ts';
import { plural } from '../../../wire/spans.ts';
import { confirm } from '../../output/confirm.ts';
import { print, printJson } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { knownQueues, requireQueue } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { listQueues, showQueue } from './queue-view.ts';
import { parseSettings } from './settings-args.ts';

export async function queue(args: Args): Promise<number> {
  const [name, ...assignments] = args.positionals;
  const settings = parseSettings(args, assignments);
  checkArgs(args, { name, assignments });
  return withTarget(args, async (target) => {
    if (name === undefined) return listQueues(args, target);
    if (args.flag('create')) return create(args, target, { name, settings });
    await requireQueue(target, name, `; create it with longhaul queue ${name} --create`);
    if (args.flag('delete')) return remove(args, target, name);
    if (assignments.length > 0) await target.longhaul.queue(name).configure(settings);
    return showQueue(args, target, name);
  });
}

function checkArgs(
  args: Args,
  { name, assignments }: { name: string | undefined; assignments: readonly string[] },
): void {
  const isChange = args.flag('create') || args.flag('delete');
  if (name === undefined && isChange) throw args.usageError('NAME is missing');
  if (args.flag('create') && args.flag('delete')) throw args.usageError('--create and --delete cannot be combined');
  if (args.flag('delete') && assignments.length > 0) throw args.usageError('--delete takes no settings');
  if (args.text('script') !== undefined && !args.flag('create')) throw args.usageError('--script requires --create');
}

async function create(
  args: Args,
  target: Target,
  { name, settings }: { name: string; settings: SettingsInput },
): Promise<number> {
  checkQueueName(name);
  if ((await knownQueues(target)).includes(name)) throw new LonghaulError('refused', `queue ${name} exists already`);
  const script = args.text('script');
  if (script !== undefined) await installScript(target, name, script);
  await target.longhaul.queue(name).configure(settings);
  if (args.flag('json')) return showQueue(args, target, name);
  print(`created queue ${name}${script === undefined ? '' : ` with script ${join(target.home.queues, name)}`}`);
  return 0;
}

const SCRIPT_MODE = 0o700;

/** Installs the script with a rename, so that a node that reads the directory never sees a partial script. */
async function installScript({ home }: Target, name: string, path: string): Promise<void> {
  await fileSize(path);
  await mkdir(home.queues, { recursive: true, mode: 0o700 });
  const draft = join(home.queues, `.${name}.new`);
  await copyFile(path, draft);
  await chmod(draft, SCRIPT_MODE);
  await rename(draft, join(home.queues, name));
}

/** Refuses to delete a queue with a file in the data directory: while the file exists, the queue exists. */
async function remove(args: Args, target: Target, name: string): Promise<number> {
  for (const file of [name, `${name}.json`]) {
    const path = join(target.home.queues, file);
    if ((await stat(path).catch(() => null)) !== null)
      throw new LonghaulError('refused', `${path} defines this queue: remove the file first`);
  }
  const count = totalJobs(await target.longhaul.queue(name).count());
  if (!(await confirm(args, `delete queue ${name} with ${plural(count, 'job')}`))) return 1;
  const { jobs } = await target.longhaul.queue(name).delete({ jobs: true });
  if (args.flag('json')) printJson({ queue: name, deletedJobs: jobs });
  else print(`deleted queue ${name} with ${plural(jobs, 'job')}`);
  return 0;
}
