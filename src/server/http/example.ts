/** Builds a curl example for each operation from the schemas of its checks. */
import type { JsonSchema } from '../../core/input/json-schema.ts';
import { schemaOf } from '../../core/input/json-schema.ts';
import type { Route } from './route.ts';
import { isStream } from './route.ts';

/** Realistic values for known names. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  id: 'job-1',
  ids: ['job-1', 'job-2'],
  queue: 'mail',
  queues: ['mail'],
  data: { to: 'user@example.com' },
  name: 'mail',
  cron: '30 3 * * *',
  worker: 'worker-1',
  token: 1,
  group: 'exit 1',
  message: 'exit status 1',
  kind: 'complete',
  note: 'maintenance',
  setting: 'retries',
  n: 'latest',
};

export function exampleBody(schema: JsonSchema): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = schema.anyOf ?? [];
  if (first !== undefined) return exampleBody(first);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return Object.fromEntries(
        neededOf(schema).map((name) => [name, exampleOf(name, schema.properties?.[name] ?? {})]),
      );
    case 'array':
      return schema.items === undefined ? [] : [exampleBody(schema.items)];
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    default:
      return 'text';
  }
}

function exampleOf(name: string, schema: JsonSchema): unknown {
  if (schema.contentMediaType !== undefined) return JSON.stringify(SAMPLES[name] ?? {});
  return schema.enum === undefined && Object.hasOwn(SAMPLES, name) ? SAMPLES[name] : exampleBody(schema);
}

/** Optional fields that make an example useful. */
const SHOWN: ReadonlySet<string> = new Set(['data', 'ids', 'cron']);

function neededOf({ required = [], properties = {} }: JsonSchema): readonly string[] {
  return [...required, ...Object.keys(properties).filter((name) => SHOWN.has(name) && !required.includes(name))];
}

/** Returns a command line for a shell. */
export function curlOf(route: Route, origin: string): string {
  const path = route.path.replace(/\{([a-z]+)\}/gi, (_whole, name: string) => exampleParam(name));
  const method = route.method === 'GET' ? [] : route.method === 'HEAD' ? ['-I'] : ['-X', route.method];
  return ['curl', ...method, ...bodyArguments(route), `${origin}${path}`].join(' ');
}

export function exampleParam(name: string): string {
  const sample = SAMPLES[name];
  return typeof sample === 'string' ? sample : name;
}

function bodyArguments({ body }: Route): readonly string[] {
  if (body === null) return [];
  if (isStream(body)) return ['-H', "'Content-Type: application/octet-stream'", '--data-binary', '@file'];
  const text = JSON.stringify(exampleBody(schemaOf(body))).replaceAll("'", "'\\''");
  return ['-H', "'Content-Type: application/json'", '-d', `'${text}'`];
}
