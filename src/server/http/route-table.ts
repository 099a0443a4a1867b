/**
 * All routes, and the matching of requests to them. A literal path segment has precedence over a placeholder, so that
 * `/api/jobs/count` is never the job with the id count.
 */
import { attachmentRoutes } from '../routes/attachments.ts';
import { attemptRoutes } from '../routes/attempts.ts';
import { auditRoutes } from '../routes/audit.ts';
import { bulkRoutes } from '../routes/bulk.ts';
import { copyRoutes } from '../routes/copies.ts';
import { withDescription } from '../routes/description.ts';
import { healthRoutes } from '../routes/health.ts';
import { insightRoutes } from '../routes/insight.ts';
import { jobActionRoutes } from '../routes/job-actions.ts';
import { jobRoutes } from '../routes/jobs.ts';
import { loginRoutes } from '../routes/login.ts';
import { logRoutes } from '../routes/logs.ts';
import { meRoutes } from '../routes/me.ts';
import { nodeRoutes } from '../routes/nodes.ts';
import { overviewRoutes } from '../routes/overview.ts';
import { storeRoutes } from '../routes/port/store.ts';
import { storedLogRoutes } from '../routes/port/store-logs.ts';
import { recordRoutes } from '../routes/port/store-records.ts';
import { workRoutes } from '../routes/port/work.ts';
import { queueRoutes } from '../routes/queues.ts';
import { relayRoutes } from '../routes/relay.ts';
import { scheduleRoutes } from '../routes/schedules.ts';
import { settingsRoutes } from '../routes/settings.ts';
import { streamRoutes } from '../routes/streams.ts';
import { throttleRoutes } from '../routes/throttles.ts';
import { tokenRoutes } from '../routes/tokens.ts';
import { webUiRoutes } from '../routes/web-ui.ts';
import { workerRoutes } from '../routes/workers.ts';
import type { Method, Route } from './route.ts';
import { METHODS } from './route.ts';

const OWN: readonly Route[] = [
  ...bulkRoutes,
  ...jobActionRoutes,
  ...jobRoutes,
  ...insightRoutes,
  ...overviewRoutes,
  ...queueRoutes,
  ...settingsRoutes,
  ...scheduleRoutes,
  ...throttleRoutes,
  ...workRoutes,
  ...workerRoutes,
  ...storeRoutes,
  ...recordRoutes,
  ...storedLogRoutes,
  ...healthRoutes,
  ...meRoutes,
  ...loginRoutes,
  ...tokenRoutes,
  ...auditRoutes,
  ...attachmentRoutes,
  ...attemptRoutes,
  ...logRoutes,
  ...nodeRoutes,
  ...copyRoutes,
  ...relayRoutes,
  ...streamRoutes,
  ...webUiRoutes,
];

export const ROUTES: readonly Route[] = withDescription(OWN);

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong-method'; readonly allowed: readonly Method[] }
  | { readonly kind: 'not-found' };

export interface RouteTable {
  /** `query` distinguishes only routes that share a path. */
  match(method: string, path: string, query?: string): Match;
}

interface Step {
  readonly literals: Map<string, Step>;
  /** `{queue}.json`: a placeholder with a suffix. */
  readonly suffixes: Map<string, Step>;
  any: { readonly step: Step } | null;
  readonly routes: Map<string, Route>;
}

export function createRouteTable(routes: readonly Route[]): RouteTable {
  const root = newStep();
  for (const route of routes) {
    const step = partsOf(route.path).reduce(stepInto, root);
    const key = keyOf(route.method, route.onlyWith);
    if (step.routes.has(key)) throw new Error(`two routes for ${key} ${route.path}`);
    step.routes.set(key, route);
  }
  return { match: (method, path, query = '') => match(root, method, { path, query }) };
}

function newStep(): Step {
  return { literals: new Map(), suffixes: new Map(), any: null, routes: new Map() };
}

const keyOf = (method: string, onlyWith: string | null): string =>
  onlyWith === null ? method : `${method} ${onlyWith}`;

function partsOf(path: string): string[] {
  return path.split('/').slice(1);
}

function stepInto(step: Step, part: string): Step {
  const [, suffix] = /^\{[a-z]+\}(.*)$/i.exec(part) ?? [];
  if (suffix === '') {
    step.any ??= { step: newStep() };
    return step.any.step;
  }
  const [children, key] = suffix === undefined ? [step.literals, part] : [step.suffixes, suffix];
  const next = children.get(key) ?? newStep();
  children.set(key, next);
  return next;
}

/** Tries both a literal and a placeholder where both match: `/api/jobs/cancel` can be a bulk call or a job. */
function match(root: Step, method: string, { path, query }: { path: string; query: string }): Match {
  const found = ends(root, partsOf(path), []);
  if (found.length === 0) return { kind: 'not-found' };
  for (const { step, values } of found) {
    const route = routeAt(step, method, query) ?? (method === 'HEAD' ? routeAt(step, 'GET', query) : undefined);
    if (route !== undefined) return { kind: 'route', route, params: named(route, values) };
  }
  const allowed = METHODS.filter((each) => found.some(({ step }) => step.routes.has(each)));
  return { kind: 'wrong-method', allowed };
}

function routeAt({ routes }: Step, method: string, query: string): Route | undefined {
  const names = query === '' ? [] : [...new URLSearchParams(query).keys()];
  const [special] = names.flatMap((name) => routes.get(keyOf(method, name)) ?? []);
  return special ?? routes.get(method);
}

interface End {
  readonly step: Step;
  readonly values: readonly string[];
}

function ends(step: Step, parts: readonly string[], values: readonly string[]): End[] {
  const [part, ...rest] = parts;
  if (part === undefined) return step.routes.size > 0 ? [{ step, values }] : [];
  const literal = step.literals.get(part);
  return [
    ...(literal === undefined ? [] : ends(literal, rest, values)),
    ...[...step.suffixes]
      .filter(([suffix]) => part.endsWith(suffix) && part.length > suffix.length)
      .flatMap(([suffix, next]) => ends(next, rest, [...values, part.slice(0, -suffix.length)])),
    ...(step.any === null || part === '' ? [] : ends(step.any.step, rest, [...values, part])),
  ];
}

function named(route: Route, values: readonly string[]): Readonly<Record<string, string>> {
  const names = [...route.path.matchAll(/\{([a-z]+)\}/gi)].map(([, name]) => name ?? '');
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}
