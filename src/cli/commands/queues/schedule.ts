/** `longhaul schedule`: lists, creates, changes, pauses, runs and deletes schedules. The core checks their rules. */
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { nextRunTimes } from '../../../core/schedules/schedule.ts';
import type { ScheduleInput } from '../../../core/schedules/schedule-input.ts';
import type { RuleInput } from '../../../core/schedules/schedule-rule-input.ts';
import { readRule } from '../../../core/schedules/schedule-rule-input.ts';
import { describeRule } from '../../../wire/describe-rule.ts';
import type { ScheduleView } from '../../../wire/schedule-view.ts';
import { localIso } from '../../../wire/spans.ts';
import { confirm } from '../../output/confirm.ts';
import { print, printJson, printNotice } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { SCHEDULE_VERBS } from '../../table/schedule-commands.ts';
import { requireQueue } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';

import { parseJson, sharedJobOptions } from '../jobs/new-job.ts';
import { listSchedules, showSchedule } from './schedule-view.ts';

const SHOWN_UPCOMING = 5;
type Verb = (typeof SCHEDULE_VERBS)[number];
type Action = (args: Args, target: Target, name: string) => Promise<number>;

const ACTIONS: Readonly<Record<Exclude<Verb, 'explain'>, Action>> = { show, set, pause, resume, run, delete: remove };

export async function schedule(args: Args): Promise<number> {
  const [verb, name, ...more] = args.positionals;
  if (verb === undefined) return withTarget(args, (target) => listSchedules(args, target));
  const known = SCHEDULE_VERBS.find((each) => each === verb);
  if (known === undefined)
    throw args.usageError(`unknown subcommand: schedule ${verb}${didYouMean(verb, SCHEDULE_VERBS)}`);
  if (known === 'explain') return explain(args);
  if (name === undefined) throw args.usageError('NAME is missing');
  if (more.length > (known === 'set' ? 1 : 0)) throw args.usageError('too many arguments');
  return withTarget(args, (target) => ACTIONS[known](args, target, name));
}

async function show(args: Args, target: Target, name: string): Promise<number> {
  return showSchedule(args, await requireSchedule(target, name));
}

async function set(args: Args, target: Target, name: string): Promise<number> {
  const input = parseSchedule(args);
  await requireQueue(target, input.queue, '; create one with longhaul queue NAME --create');
  const { outcome, ...view } = await target.longhaul.schedules.set(name, input);
  if (args.flag('json')) printJson({ ...view, outcome });
  else print(`schedule ${name} is ${outcome}: ${view.words}, next run time ${nextText(view.nextAt)}`);
  return 0;
}

function nextText(at: number | null): string {
  return at === null ? 'never' : localIso(at);
}

async function pause(args: Args, target: Target, name: string): Promise<number> {
  await requireSchedule(target, name);
  await target.longhaul.schedules.pause(name, args.text('note') ?? null);
  return printStatus(args, target, { name, status: 'is paused: it adds no jobs until it is resumed' });
}

async function resume(args: Args, target: Target, name: string): Promise<number> {
  await requireSchedule(target, name);
  await target.longhaul.schedules.resume(name);
  return printStatus(args, target, { name, status: 'is resumed' });
}

async function printStatus(
  args: Args,
  target: Target,
  { name, status }: { name: string; status: string },
): Promise<number> {
  if (args.flag('json')) printJson(await target.longhaul.schedules.find(name));
  else print(`schedule ${name} ${status}`);
  return 0;
}

async function run(args: Args, target: Target, name: string): Promise<number> {
  await requireSchedule(target, name);
  const ran = await target.longhaul.schedules.runNow(name);
  if (!ran.ok) throw new LonghaulError('refused', ran.refusal.message);
  if (args.flag('json')) printJson(await target.longhaul.find(ran.id));
  else print(ran.id);
  return 0;
}

async function remove(args: Args, target: Target, name: string): Promise<number> {
  await requireSchedule(target, name);
  if (!(await confirm(args, `delete schedule ${name}; its jobs stay`))) return 1;
  await target.longhaul.schedules.delete(name);
  if (args.flag('json')) printJson({ schedule: name });
  else print(`deleted schedule ${name}`);
  return 0;
}

/** Explains a rule without a store or node, because a rule means the same everywhere. */
function explain(args: Args): number {
  if (args.positionals.length > 1) throw args.usageError('too many arguments');
  const bounded = readRule(parseRule(args));
  const words = describeRule(bounded.rule);
  const next = nextRunTimes(bounded, Date.now(), SHOWN_UPCOMING);
  if (args.flag('json')) printJson({ words, upcoming: next });
  else {
    print(words);
    for (const at of next) print(`  ${localIso(at)}`);
    if (next.length === 0) printNotice('no run time from now on');
  }
  return 0;
}

async function requireSchedule({ longhaul }: Target, name: string): Promise<ScheduleView> {
  const view = await longhaul.schedules.find(name);
  if (view !== null) return view;
  const names = (await longhaul.schedules.list()).map((each) => each.name);
  const near =
    didYouMean(name, names) ||
    (names.length === 0 ? '; there are no schedules yet' : `; known schedules: ${names.join(', ')}`);
  throw new LonghaulError('refused', `there is no schedule ${name}${near}`);
}

const RULE_OPTIONS = ['cron', 'zone', 'every', 'offset', 'from', 'until'] as const;

function parseRule(args: Args): RuleInput {
  return textOptions(args, RULE_OPTIONS);
}

/** Parses the options of `set`; the core checks their values. */
function parseSchedule(args: Args): ScheduleInput {
  const [, , data] = args.positionals;
  const [queue, backlog, catchUp] = [args.text('queue'), args.text('backlog'), args.text('catch-up')];
  if (queue === undefined) throw args.usageError('--queue is missing');
  return {
    ...parseRule(args),
    ...textOptions(args, ['overlap', 'jitter']),
    queue,
    options: sharedJobOptions(args),
    ...(data !== undefined && { data: parseJson('DATA', data) }),
    ...(catchUp !== undefined && { catchUp }),
    ...(backlog !== undefined && { backlog: backlog === 'all' ? null : (args.number('backlog', [0, 1_000_000]) ?? 1) }),
  };
}

function textOptions(args: Args, names: readonly string[]): object {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = args.text(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
