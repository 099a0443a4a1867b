/**
 * The settings of a running node. SIGHUP reads node.json and the queues again and reports the changes since the last
 * read. Settings that a running node cannot change take effect at the next start, and the report says so.
 */
import { statSync } from 'node:fs';
import { badInput } from '../../core/ports/errors.ts';
import type { Home } from '../../node/home.ts';
import type { NodeSettings } from '../../node/node-settings.ts';
import { nodeSettings } from '../../node/node-settings.ts';
import type { OutboundSettings } from '../../node/outbound-settings.ts';
import { readQueueFolder } from '../../node/queues/queue-folder.ts';
import { readIfExists } from './serve-settings.ts';

type Queues = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** Settings that take effect at once, for scripts and outbound calls that start after the reload. */
const LIVE: ReadonlySet<string> = new Set([
  'name',
  'copyUpTo',
  'url',
  'aliases',
  'env',
  'allowDestinations',
  'destinations',
  'relay',
  'hooks',
]);

/** Settings that hold tokens; their values are never printed. */
const SECRET: ReadonlySet<string> = new Set(['destinations', 'hooks']);

export class LiveSettings implements NodeSettings {
  readonly #home: Home;
  readonly #port: number;
  #current: NodeSettings;
  #file: Readonly<Record<string, unknown>>;
  #queues: Queues = new Map();

  constructor(home: Home, port: number) {
    this.#home = home;
    this.#port = port;
    this.#current = nodeSettings(readIfExists(home.settings), port);
    requirePrivateFile(home.settings, this.#current);
    this.#file = parsed(readIfExists(home.settings));
  }

  get name(): string | null {
    return this.#current.name;
  }
  get url(): string {
    return this.#current.url;
  }
  get isUrlSet(): boolean {
    return this.#current.isUrlSet;
  }
  get copyUpTo(): number {
    return this.#current.copyUpTo;
  }
  get aliases(): readonly string[] {
    return this.#current.aliases;
  }
  get port(): number {
    return this.#current.port;
  }
  get env(): string {
    return this.#current.env;
  }
  /** As of the start: a queue runner decides at its creation which scripts may run. */
  get scriptDirs(): readonly string[] {
    return this.#current.scriptDirs;
  }

  /** As of the start: workers register their capacity once. */
  get offers(): string {
    return this.#current.offers;
  }

  get rq(): NodeSettings['rq'] {
    return this.#current.rq;
  }

  get outbound(): OutboundSettings {
    return this.#current.outbound;
  }

  async remember(): Promise<void> {
    this.#queues = await readQueues(this.#home);
  }

  /** Reads the settings again and returns one line a change. An invalid node.json throws and changes nothing. */
  async reload(): Promise<readonly string[]> {
    const text = readIfExists(this.#home.settings);
    const next = nodeSettings(text, this.#port);
    requirePrivateFile(this.#home.settings, next);
    const file = parsed(text);
    const queues = await readQueues(this.#home);
    const lines = [...fileChanges(this.#file, file), ...queueChanges(this.#queues, queues)];
    this.#current = { ...next, scriptDirs: this.#current.scriptDirs, rq: this.#current.rq };
    this.#file = file;
    this.#queues = queues;
    return lines;
  }
}

const READABLE_BY_OTHERS = 0o077;

/** Throws if node.json holds tokens or secrets and other users can read it. */
function requirePrivateFile(path: string, { outbound }: NodeSettings): void {
  const isSecret = outbound.hooks.secrets.size > 0;
  const hasToken = isSecret || [...outbound.destinations.values()].some(({ token }) => token !== null);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if (!hasToken || (mode & READABLE_BY_OTHERS) === 0) return;
  const message = `holds tokens or secrets, but other users can read it (mode 0${(mode & 0o777).toString(8)}): chmod 0600 ${path}`;
  throw badInput('node.json', [{ path: '', message }]);
}

/** Parses without a check, because nodeSettings() has just checked the text. */
const parsed = (text: string | undefined): Readonly<Record<string, unknown>> =>
  text === undefined ? {} : (JSON.parse(text) as Record<string, unknown>);

async function readQueues(home: Home): Promise<Queues> {
  const definitions = await readQueueFolder(home);
  return new Map(definitions.map(({ name, settings, problem }) => [name, { ...settings, problem }]));
}

function fileChanges(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[] {
  return changedKeys(before, after).map((key) => {
    const change = SECRET.has(key)
      ? `node.json: ${key} changed`
      : `node.json: ${key} changed from ${shown(before[key])} to ${shown(after[key])}`;
    return LIVE.has(key) ? change : `${change}; takes effect at the next start`;
  });
}

function queueChanges(before: Queues, after: Queues): string[] {
  const removed = [...before.keys()].filter((name) => !after.has(name)).map((name) => `queue ${name}: removed`);
  const others = [...after].flatMap(([name, settings]) => {
    const old = before.get(name);
    if (old === undefined) return [`queue ${name}: added`];
    const keys = changedKeys(old, settings);
    return keys.length === 0 ? [] : [`queue ${name}: ${keys.join(', ')} changed`];
  });
  return [...removed, ...others];
}

function changedKeys(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
}

const shown = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value));
