/**
 * The rules of the queue `rq_router`, as `router.json` in the home folder holds them:
 *
 *     { "rules": [
 *         { "name": "films to all", "match": { "source": "^web", "destination": "/q/films$", "tags": ["eu"] },
 *           "relay": ["http://a:3333", ["http://b:3333", "http://c:3333"]] },
 *         { "name": "mail to one", "match": { "destination": "mail" }, "balance": ["a", "b:4444"], "delay": "10s" },
 *         { "name": "tests end here", "match": { "source": "test" }, "end": "done" } ],
 *       "default": { "end": "failed" } }
 *
 * Everything that is wrong is told at once, with its place. Pure.
 */
import type { Check, Checked, Report } from '../../core/input/check.ts';
import { checked, duration, listOf, object, oneOf, text } from '../../core/input/check.ts';
import { described, schemaOf } from '../../core/input/json-schema.ts';
import { tag } from '../../core/job/names.ts';
import { badInput } from '../../core/ports/errors.ts';
import { parseRoute } from './route-address.ts';

export interface RouterRule {
  readonly name: string;
  readonly source: RegExp | null;
  readonly destination: RegExp | null;
  readonly tags: readonly string[];
  readonly action: RouterAction;
  readonly delayMs: number;
}

export type RouterAction =
  /** To each of these; where there are several in one place, to one of them. */
  | { readonly kind: 'relay'; readonly routes: readonly (readonly string[])[] }
  | { readonly kind: 'end'; readonly as: 'done' | 'failed' };

export interface RouterRules {
  readonly rules: readonly RouterRule[];
  readonly default: RouterRule;
}

const MOST_RULES = 1_000;
const MOST_ROUTES = 100;

const expression: Check<RegExp> = described(
  { type: 'string', description: 'a regular expression' },
  (value: unknown, report: Report, path: string): RegExp => {
    try {
      return new RegExp(text({ max: 1_000 })(value, report, path));
    } catch (error) {
      report(path, `is no regular expression: ${(error as Error).message}`);
      return /(?!)/;
    }
  },
);

const place: Check<string> = described({ type: 'string' }, (value: unknown, report: Report, path: string): string => {
  const given = text({ max: 2_048 })(value, report, path);
  if (typeof value === 'string' && parseRoute(value, 'x') === null)
    report(path, 'must be a host, an address such as http://host:3333 or http://host:3333/q/queue, or /q/queue');
  return given;
});

const onePlace = described(
  { anyOf: [schemaOf(place), schemaOf(listOf(place, MOST_ROUTES))] },
  (value: unknown, report: Report, path: string): readonly string[] =>
    Array.isArray(value) ? listOf(place, MOST_ROUTES)(value, report, path) : [place(value, report, path)],
);

const doing = {
  relay: listOf(onePlace, MOST_ROUTES),
  balance: listOf(place, MOST_ROUTES),
  end: oneOf('done', 'failed'),
  delay: duration(),
};
const ruleShape = object({
  ...doing,
  name: text({ max: 200 }),
  match: object({ source: expression, destination: expression, tags: listOf(tag, 100) }),
});
const defaultShape = object(doing);
type Doing = Checked<typeof doing>;

const fileShape = object({
  rules: listOf(withOneAction(ruleShape), MOST_RULES),
  default: withOneAction(defaultShape),
});

/** Throws `bad-input` with every problem. `json` is the text of the file. */
export function parseRouterRules(json: string): RouterRules {
  const { rules = [], default: otherwise = { end: 'failed' as const } } = checked(
    'router.json',
    parse(json),
    fileShape,
  );
  return {
    rules: rules.map(({ name, match = {}, ...rest }, place) => ({
      name: name ?? `rule ${place + 1}`,
      source: match.source ?? null,
      destination: match.destination ?? null,
      tags: match.tags ?? [],
      action: actionOf(rest),
      delayMs: rest.delay ?? 0,
    })),
    default: {
      name: 'default',
      source: null,
      destination: null,
      tags: [],
      action: actionOf(otherwise),
      delayMs: otherwise.delay ?? 0,
    },
  };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw badInput('router.json', [{ path: '', message: `is no JSON: ${(error as Error).message}` }]);
  }
}

function withOneAction<T extends Doing>(check: Check<T>): Check<T> {
  return described(schemaOf(check), (value: unknown, report: Report, path: string) => {
    const given = check(value, report, path);
    const said = (['relay', 'balance', 'end'] as const).filter((name) => given?.[name] !== undefined);
    if (given !== undefined && said.length !== 1)
      report(path, `must say one of relay, balance and end, not ${said.length === 0 ? 'none' : said.join(' and ')}`);
    for (const name of ['relay', 'balance'] as const)
      if (given?.[name]?.length === 0) report(`${path}.${name}`, 'must name at least one place');
    return given;
  });
}

function actionOf({ relay, balance, end }: Doing): RouterAction {
  if (relay !== undefined) return { kind: 'relay', routes: relay };
  if (balance !== undefined) return { kind: 'relay', routes: [balance] };
  return { kind: 'end', as: end ?? 'failed' };
}
