/** A queue's settings as RQ's config.json names them. Values of environment variables are not shown. */
import { SCHEDULE_RECORD } from '../../core/schedules/schedule.ts';
import { readSchedule } from '../../core/schedules/schedule-record.ts';
import { LOGIN_SHELL } from '../../node/queues/rq-config.ts';
import type { ServerContext } from '../../server/views/context.ts';
import type { QueueView } from '../../wire/views.ts';

export async function configOf(context: ServerContext, { name, settings }: QueueView): Promise<object> {
  return {
    name,
    script: settings.script,
    num_workers: settings.concurrency,
    exec_prefix: isLoginShell(settings.execPrefix) ? 'bash -lc' : settings.execPrefix.join(' '),
    env_vars: Object.fromEntries(settings.env.map((variable) => [variable, ''])),
    coalesce_params: parametersOf(settings.coalesce),
    blocking_params: settings.keys?.limit === 1 ? parametersOf(settings.keys) : [],
    schedule: await schedulesOf(context, name),
  };
}

const isLoginShell = (prefix: readonly string[]): boolean => JSON.stringify(prefix) === JSON.stringify(LOGIN_SHELL);

/** `param1` → 1. */
export function parametersOf(given: unknown): readonly number[] {
  const { by } = (given ?? {}) as { readonly by?: unknown };
  if (!Array.isArray(by)) return [];
  return by.flatMap((field: unknown) => (/^param[1-4]$/.test(String(field)) ? [Number(String(field).at(-1))] : []));
}

const MAX_SCHEDULES = 100;

/** Schedules of the queue's file with a cron expression, with their parameters. */
async function schedulesOf(context: ServerContext, queue: string): Promise<readonly object[]> {
  const records = await context.store.records.list({
    kind: SCHEDULE_RECORD,
    prefix: `${queue}.`,
    limit: MAX_SCHEDULES,
  });
  return records.flatMap((record) => {
    const { rule, job } = readSchedule(record)?.schedule.definition ?? {};
    return rule?.kind === 'cron' && job?.queue === queue
      ? [{ cron: rule.cron, params: JSON.parse(job.data) as unknown }]
      : [];
  });
}
