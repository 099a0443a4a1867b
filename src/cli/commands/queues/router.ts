/** `longhaul router`: checks a file of rules, or shows where the rules send a job. Sends and changes nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { ROUTER_FILE } from '../../../node/router/open-router.ts';
import { candidatesOf, ruleFor } from '../../../node/router/route-job.ts';
import type { RouterRule, RouterRules } from '../../../node/router/router-rules.ts';
import { parseRouterRules } from '../../../node/router/router-rules.ts';
import { exactDuration, plural } from '../../../wire/spans.ts';
import { print, printJson } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { homeOf } from '../../table/command.ts';

export async function router(args: Args): Promise<number> {
  const [verb, path, ...more] = args.positionals;
  if (more.length > 0) throw args.usageError('too many arguments');
  if (verb !== 'check' && verb !== 'try')
    throw args.usageError(verb === undefined ? 'check or try is missing' : `unknown subcommand: router ${verb}`);
  const rules = readRules(path ?? join(homeOf(args.text('home')).root, ROUTER_FILE));
  return verb === 'check' ? printRules(args, rules) : tryRules(args, rules);
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

function printRules(args: Args, rules: RouterRules): number {
  const [first, ...lines] = ruleLines(rules);
  if (args.flag('json')) printJson({ rules: rules.rules.length, lines });
  else for (const line of [`valid: ${first}`, ...lines]) print(line);
  return 0;
}

/** Returns the number of rules, then one line for each rule. */
export function ruleLines({ rules, default: otherwise }: RouterRules): readonly string[] {
  return [plural(rules.length, 'rule'), ...[...rules, otherwise].map((rule) => `${rule.name}: ${actionText(rule)}`)];
}

function tryRules(args: Args, rules: RouterRules): number {
  const job = { source: args.text('src') ?? '', destination: args.text('dest') ?? '', tags: args.list('tag') };
  const rule = ruleFor(rules, job);
  const { action } = rule;
  const candidates = action.kind === 'end' ? [] : candidatesOf(action.routes, job);
  if (candidates === null) throw new LonghaulError('refused', `rule ${rule.name} matches, but --dest names no queue`);
  const ends = action.kind === 'end' ? action.as : null;
  if (args.flag('json')) printJson({ rule: rule.name, ends, to: candidates, delayMs: rule.delayMs });
  else for (const line of matchLines(rule, candidates)) print(line);
  return 0;
}

function matchLines(rule: RouterRule, candidates: readonly (readonly string[])[]): readonly string[] {
  const after = rule.delayMs === 0 ? '' : `, after ${exactDuration(rule.delayMs)}`;
  if (rule.action.kind === 'end') return [`${rule.name}: ends the job as ${rule.action.as}`];
  return candidates.map(
    (addresses) => `${rule.name}: to ${addresses.length === 1 ? '' : 'one of '}${addresses.join(', ')}${after}`,
  );
}

function actionText({ action, delayMs }: RouterRule): string {
  if (action.kind === 'end') return `ends the job as ${action.as}`;
  const addresses = action.routes.map((each) => (each.length === 1 ? each[0] : `one of ${each.join(', ')}`));
  return `to ${addresses.join(' and ')}${delayMs === 0 ? '' : `, after ${exactDuration(delayMs)}`}`;
}
