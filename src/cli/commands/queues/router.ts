/** `longhaul router`: checks a file of rules, or says where a job would go by it. Sends nothing and changes nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { ROUTER_FILE } from '../../../node/router/open-router.ts';
import { candidatesOf, ruleFor } from '../../../node/router/route-job.ts';
import type { RouterRule, RouterRules } from '../../../node/router/router-rules.ts';
import { parseRouterRules } from '../../../node/router/router-rules.ts';
import { exactDuration, plural } from '../../../wire/spans.ts';
import { print, printJson } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { homeOf } from '../../table/command.ts';

export async function router(call: Call): Promise<number> {
  const [verb, path, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  if (verb !== 'check' && verb !== 'try')
    throw call.wrong(verb === undefined ? 'check or try is missing' : `there is no longhaul router ${verb}`);
  const rules = readRules(path ?? join(homeOf(call.text('home')).root, ROUTER_FILE));
  return verb === 'check' ? sayRight(call, rules) : tryOut(call, rules);
}

export function readRules(path: string): RouterRules {
  try {
    return parseRouterRules(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof LonghaulError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new LonghaulError('bad-input', code === 'ENOENT' ? `there is no file ${path}` : `${path}: ${message}`);
  }
}

function sayRight(call: Call, rules: RouterRules): number {
  const [first, ...lines] = ruleLines(rules);
  if (call.flag('json')) printJson({ rules: rules.rules.length, lines });
  else for (const line of [`right: ${first}`, ...lines]) print(line);
  return 0;
}

/** How many there are, and then what each does. */
export function ruleLines({ rules, default: otherwise }: RouterRules): readonly string[] {
  return [plural(rules.length, 'rule'), ...[...rules, otherwise].map((rule) => `${rule.name}: ${actionWords(rule)}`)];
}

function tryOut(call: Call, rules: RouterRules): number {
  const job = { source: call.text('src') ?? '', destination: call.text('dest') ?? '', tags: call.list('tag') };
  const rule = ruleFor(rules, job);
  const { action } = rule;
  const candidates = action.kind === 'end' ? [] : candidatesOf(action.routes, job);
  if (candidates === null)
    throw new LonghaulError('refused', `rule ${rule.name} fits, but --dest names no queue to send it to`);
  const ends = action.kind === 'end' ? action.as : null;
  if (call.flag('json')) printJson({ rule: rule.name, ends, to: candidates, delayMs: rule.delayMs });
  else for (const line of triedLines(rule, candidates)) print(line);
  return 0;
}

function triedLines(rule: RouterRule, candidates: readonly (readonly string[])[]): readonly string[] {
  const after = rule.delayMs === 0 ? '' : `, after ${exactDuration(rule.delayMs)}`;
  if (rule.action.kind === 'end') return [`${rule.name}: ends it as ${rule.action.as}`];
  return candidates.map(
    (places) => `${rule.name}: to ${places.length === 1 ? '' : 'one of '}${places.join(', ')}${after}`,
  );
}

function actionWords({ action, delayMs }: RouterRule): string {
  if (action.kind === 'end') return `ends it as ${action.as}`;
  const places = action.routes.map((each) => (each.length === 1 ? each[0] : `one of ${each.join(', ')}`));
  return `to ${places.join(' and ')}${delayMs === 0 ? '' : `, after ${exactDuration(delayMs)}`}`;
}
