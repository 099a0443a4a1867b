/** `longhaul schedule`: what shall happen again and again. What a rule may be is for the core to say. */
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { nextSlots } from '../../../core/schedules/schedule.ts';
import { readRule } from '../../../core/schedules/schedule-rule-input.ts';
import { ruleWords } from '../../../wire/describe-rule.ts';
import type { ScheduleView } from '../../../wire/schedule-view.ts';
import { localIso } from '../../../wire/spans.ts';
import { confirm } from '../../output/confirm.ts';
import { print, printJson, remark } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { SCHEDULE_VERBS } from '../../table/schedule-commands.ts';
import { checkQueueIsKnown } from '../../target/known-names.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { ruleGiven, scheduleGiven } from './schedule-given.ts';
import { listSchedules, showSchedule } from './schedule-view.ts';

const SHOWN_UPCOMING = 5;
type Verb = (typeof SCHEDULE_VERBS)[number];
type Act = (call: Call, target: Target, name: string) => Promise<number>;

const ACTS: Readonly<Record<Exclude<Verb, 'explain'>, Act>> = { show, set, pause, resume, run, delete: remove };

export async function schedule(call: Call): Promise<number> {
  const [verb, name, ...more] = call.positionals;
  if (verb === undefined) return withTarget(call, (target) => listSchedules(call, target));
  const known = SCHEDULE_VERBS.find((each) => each === verb);
  if (known === undefined) throw call.wrong(`schedule ${verb} is not known${didYouMean(verb, SCHEDULE_VERBS)}`);
  if (known === 'explain') return explain(call);
  if (name === undefined) throw call.wrong('NAME is missing');
  if (more.length > (known === 'set' ? 1 : 0)) throw call.wrong('too many words');
  return withTarget(call, (target) => ACTS[known](call, target, name));
}

async function show(call: Call, target: Target, name: string): Promise<number> {
  return showSchedule(call, await found(target, name));
}

async function set(call: Call, target: Target, name: string): Promise<number> {
  const input = scheduleGiven(call);
  await checkQueueIsKnown(target, input.queue, '; longhaul queue NAME --create makes one');
  const { outcome, ...view } = await target.longhaul.schedules.set(name, input);
  if (call.flag('json')) printJson({ ...view, outcome });
  else print(`schedule ${name} is ${outcome}: ${view.words}, next ${nextWords(view.nextAt)}`);
  return 0;
}

function nextWords(at: number | null): string {
  return at === null ? 'never' : localIso(at);
}

async function pause(call: Call, target: Target, name: string): Promise<number> {
  await found(target, name);
  await target.longhaul.schedules.pause(name, call.text('note') ?? null);
  return told(call, target, { name, words: 'makes no jobs until it is resumed' });
}

async function resume(call: Call, target: Target, name: string): Promise<number> {
  await found(target, name);
  await target.longhaul.schedules.resume(name);
  return told(call, target, { name, words: 'goes on' });
}

async function told(call: Call, target: Target, { name, words }: { name: string; words: string }): Promise<number> {
  if (call.flag('json')) printJson(await target.longhaul.schedules.find(name));
  else print(`schedule ${name} ${words}`);
  return 0;
}

async function run(call: Call, target: Target, name: string): Promise<number> {
  await found(target, name);
  const ran = await target.longhaul.schedules.runNow(name);
  if (!ran.ok) throw new LonghaulError('refused', ran.refusal.message);
  if (call.flag('json')) printJson(await target.longhaul.find(ran.id));
  else print(ran.id);
  return 0;
}

async function remove(call: Call, target: Target, name: string): Promise<number> {
  await found(target, name);
  if (!(await confirm(call, `delete schedule ${name}; its jobs stay`))) return 1;
  await target.longhaul.schedules.delete(name);
  if (call.flag('json')) printJson({ schedule: name });
  else print(`schedule ${name} is gone`);
  return 0;
}

/** Asks nobody: a rule means the same everywhere. */
function explain(call: Call): number {
  if (call.positionals.length > 1) throw call.wrong('too many words');
  const bounded = readRule(ruleGiven(call));
  const words = ruleWords(bounded.rule);
  const next = nextSlots(bounded, Date.now(), SHOWN_UPCOMING);
  if (call.flag('json')) printJson({ words, upcoming: next });
  else {
    print(words);
    for (const at of next) print(`  ${localIso(at)}`);
    if (next.length === 0) remark('it has no slot from now on');
  }
  return 0;
}

async function found({ longhaul }: Target, name: string): Promise<ScheduleView> {
  const view = await longhaul.schedules.find(name);
  if (view !== null) return view;
  const names = (await longhaul.schedules.list()).map((each) => each.name);
  const near =
    didYouMean(name, names) || (names.length === 0 ? '; there is none yet' : `; there are ${names.join(', ')}`);
  throw new LonghaulError('refused', `there is no schedule ${name}${near}`);
}
