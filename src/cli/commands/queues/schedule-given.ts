/** A schedule as words of the command line give it; what they must be is checked by the core. */
import type { ScheduleInput } from '../../../core/schedules/schedule-input.ts';
import type { RuleInput } from '../../../core/schedules/schedule-rule-input.ts';
import type { Call } from '../../table/call.ts';
import { parseJson, sharedJobOptions } from '../jobs/new-job.ts';

const RULE_WORDS = ['cron', 'zone', 'every', 'offset', 'from', 'until'] as const;

export function ruleGiven(call: Call): RuleInput {
  return textsOf(call, RULE_WORDS);
}

export function scheduleGiven(call: Call): ScheduleInput {
  const [, , data] = call.positionals;
  const [queue, backlog, catchUp] = [call.text('queue'), call.text('backlog'), call.text('catch-up')];
  if (queue === undefined) throw call.wrong('--queue is missing');
  return {
    ...ruleGiven(call),
    ...textsOf(call, ['overlap', 'jitter']),
    queue,
    options: sharedJobOptions(call),
    ...(data !== undefined && { data: parseJson('DATA', data) }),
    ...(catchUp !== undefined && { catchUp }),
    ...(backlog !== undefined && { backlog: backlog === 'all' ? null : (call.number('backlog', [0, 1_000_000]) ?? 1) }),
  };
}

function textsOf(call: Call, names: readonly string[]): object {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = call.text(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
