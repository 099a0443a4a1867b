/**
 * The rules of the queue `rq_router`, from `router.json` in the data directory:
 *
 *     { "rules": [
 *         { "name": "films to all", "match": { "source": "^web", "destination": "/q/films$", "tags": ["eu"] },
 *           "relay": ["http://a:3333", ["http://b:3333", "http://c:3333"]] },
 *         { "name": "mail to one", "match": { "destination": "mail" }, "balance": ["a", "b:4444"], "delay": "10s" },
 *         { "name": "tests end here", "match": { "source": "test" }, "end": "done" } ],
 *       "default": { "end": "failed" } }
 *
 * All problems are reported at once, with their paths. Pure.
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
  /** To each route; of a route with several addresses, to one of them. */
  | { readonly kind: 'relay'; readonly routes: readonly (readonly string[])[] }
  | { readonly kind: 'end'; readonly as: 'done' | 'failed' };

export interface RouterRules {
  readonly rules: readonly RouterRule[];
  readonly default: RouterRule;
}

const MAX_RULES = 1_000;
const MAX_ROUTES = 100;

const expression: Check<RegExp> = described(
  { type: 'string', description: 'a regular expression' },
  (value: unknown, report: Report, path: string): RegExp => {
    try {
      return new RegExp(text({ max: 1_000 })(value, report, path));
    } catch (error) {
      report(path, `is not a regular expression: ${(error as Error).message}`);
      return /(?!)/;
    }
  },
);

const route: Check<string> = described({ type: 'string' }, (value: unknown, report: Report, path: string): string => {
  const given = text({ max: 2_048 })(value, report, path);
  if (typeof value === 'string' && parseRoute(value, 'x') === null)
    report(path, 'must be a host, an address such as http://host:3333 or http://host:3333/q/queue, or /q/queue');
  return given;
});

const routeOrRoutes = described(
  { anyOf: [schemaOf(route), schemaOf(listOf(route, MAX_ROUTES))] },
  (value: unknown, report: Report, path: string): readonly string[] =>
    Array.isArray(value) ? listOf(route, MAX_ROUTES)(value, report, path) : [route(value, report, path)],
);

const actionShape = {
  relay: listOf(routeOrRoutes, MAX_ROUTES),
  balance: listOf(route, MAX_ROUTES),
  end: oneOf('done', 'failed'),
  delay: duration(),
};
const ruleShape = object({
  ...actionShape,
  name: text({ max: 200 }),
  match: object({ source: expression, destination: expression, tags: listOf(tag, 100) }),
});
const defaultShape = object(actionShape);
type ActionInput = Checked<typeof actionShape>;

const fileShape = object({
  rules: listOf(withOneAction(ruleShape), MAX_RULES),
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
    rules: rules.map(({ name, match = {}, ...rest }, index) => ({
      name: name ?? `rule ${index + 1}`,
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
    throw badInput('router.json', [{ path: '', message: `is not valid JSON: ${(error as Error).message}` }]);
  }
}

function withOneAction<T extends ActionInput>(check: Check<T>): Check<T> {
  return described(schemaOf(check), (value: unknown, report: Report, path: string) => {
    const given = check(value, report, path);
    const actions = (['relay', 'balance', 'end'] as const).filter((name) => given?.[name] !== undefined);
    if (given !== undefined && actions.length !== 1)
      report(
        path,
        `must have one of relay, balance and end, not ${actions.length === 0 ? 'none' : actions.join(' and ')}`,
      );
    for (const name of ['relay', 'balance'] as const)
      if (given?.[name]?.length === 0) report(`${path}.${name}`, 'must have at least one route');
    return given;
  });
}

function actionOf({ relay, balance, end }: ActionInput): RouterAction {
  if (relay !== undefined) return { kind: 'relay', routes: relay };
  if (balance !== undefined) return { kind: 'relay', routes: [balance] };
  return { kind: 'end', as: end ?? 'failed' };
}
