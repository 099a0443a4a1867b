/** `longhaul add`: one job into a queue, with its files. */
import { basename } from 'node:path';
import { openBlobs } from '../blobs/open-blobs.ts';
import type { AddOptions } from '../core/add-options.ts';
import { LonghaulError } from '../core/errors.ts';
import type { Longhaul } from '../library/index.ts';
import { Attachments } from '../node/attachments.ts';
import type { Home } from '../node/home.ts';
import type { Command } from './command.ts';
import { homeOf, read, UsageError, withHome } from './command.ts';

export const addCommand: Command = {
  usage: 'add QUEUE [DATA] [--attach FILE]… [--json]',
  about:
    'Adds a job. DATA is JSON; without it the data are null.\n--id, --name, --priority, --delay, --tag and --unique as in the library; --attach gives it a file; --json prints the job.',
  example: `longhaul add sample '{"param1":"hello"}' --json`,
  async run(words) {
    const { values, positionals } = read(words, {
      json: { type: 'boolean' },
      id: { type: 'string' },
      name: { type: 'string' },
      priority: { type: 'string' },
      delay: { type: 'string' },
      unique: { type: 'string' },
      tag: { type: 'string', multiple: true },
      attach: { type: 'string', multiple: true },
    });
    const [queue, data, ...more] = positionals;
    if (queue === undefined || more.length > 0) throw new UsageError(`usage: longhaul ${addCommand.usage}`);
    const { json = false, attach = [], home: folder, ...given } = values;
    const home = homeOf(folder);
    return withHome(home, async (longhaul) => {
      const id = await addJob(longhaul, { home, queue, data: parse(data), options: optionsOf(given), attach });
      console.log(json ? JSON.stringify(await longhaul.find(id)) : id);
      return 0;
    });
  },
};

interface Given {
  readonly home: Home;
  readonly queue: string;
  readonly data: unknown;
  readonly options: AddOptions;
  readonly attach: readonly string[];
}

/** With files it is a draft until they are all there, so that no attempt begins without one. */
async function addJob(longhaul: Longhaul, { home, queue, data, options, attach }: Given): Promise<string> {
  const job = await longhaul.queue(queue).add(data, attach.length === 0 ? options : { ...options, draft: true });
  if (attach.length === 0 || job.outcome !== 'added') return job.id;
  const blobs = await openBlobs({ folder: home.blobs });
  try {
    const attachments = new Attachments(longhaul.store, blobs);
    for (const path of attach) {
      const added = await blobs.addFromPath(path);
      if (!added.ok) throw new LonghaulError('bad-input', `${path}: ${added.refusal.message}`);
      await attachments.put(job.id, { name: basename(path), ...added.blob, direction: 'in' });
    }
  } finally {
    await blobs.close();
  }
  await longhaul.commit(job.id);
  return job.id;
}

function parse(data: string | undefined): unknown {
  if (data === undefined) return null;
  try {
    return JSON.parse(data) as unknown;
  } catch (error) {
    throw new UsageError(`DATA is no JSON: ${(error as Error).message}`);
  }
}

function optionsOf({
  tag,
  priority,
  ...rest
}: {
  tag?: string[];
  priority?: string;
  [name: string]: unknown;
}): AddOptions {
  return {
    ...rest,
    ...(tag !== undefined && { tags: tag }),
    ...(priority !== undefined && { priority: Number(priority) }),
  };
}
