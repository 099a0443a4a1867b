/**
 * Queues that are defined by a settings record with a script: created through the API, the command line or the library.
 * A queue that came from a file is excluded, even when the file was removed.
 */
import { existsSync } from 'node:fs';
import { SYSTEM_QUEUES } from '../../core/job/relay-request.ts';
import type { Records } from '../../core/ports/records.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { GLOBAL_SETTINGS_KEY, QUEUE_RECORD } from '../../core/settings/settings.ts';
import type { Home } from '../home.ts';
import { COMMANDS_SCRIPT } from '../scripts/command-job.ts';
import { FILE_RECORD } from './apply-definition.ts';
import type { QueueDefinition } from './queue-folder.ts';
import { scriptPath } from './rq-queue.ts';

const PAGE = 500;

/**
 * `host` is null unless other nodes share the store. With a host, a queue is ours if its name ends with the host, or
 * its script exists here.
 */
export async function recordQueues(
  records: Records,
  { home, host }: { home: Home; host: string | null },
): Promise<readonly QueueDefinition[]> {
  // In this order: a file has its record before its queue has one.
  const queues = await all(records, QUEUE_RECORD);
  const files = await all(records, FILE_RECORD);
  return [...queues]
    .filter(([name]) => name !== GLOBAL_SETTINGS_KEY && !files.has(name) && !SYSTEM_QUEUES.includes(name))
    .flatMap(([name, value]) => {
      const script = scriptPath(home, JSON.parse(value) as Partial<QueueSettings>);
      return script !== null && isOurs({ name, script }, host) ? [definition(name, script)] : [];
    });
}

function isOurs({ name, script }: { name: string; script: string }, host: string | null): boolean {
  if (host === null) return true;
  return script === COMMANDS_SCRIPT ? name.endsWith(`.${host}`) : existsSync(script);
}

function definition(name: string, script: string): QueueDefinition {
  return { name, origin: 'record', settings: {}, script, secrets: {}, schedules: {}, notices: [], problem: null };
}

async function all(records: Records, kind: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (let after: string | undefined; ; ) {
    const page = await records.list({ kind, limit: PAGE, ...(after !== undefined && { after }) });
    for (const { key, value } of page) found.set(key, value);
    after = page.at(-1)?.key;
    if (page.length < PAGE) return found;
  }
}
