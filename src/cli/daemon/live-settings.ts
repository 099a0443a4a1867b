/**
 * The settings of a node while it runs: HUP reads node.json and the queues again and says what is different since the
 * last look. What cannot change under a running node is said to wait for the next start.
 */
import { statSync } from 'node:fs';
import { badInput } from '../../core/ports/errors.ts';
import type { Home } from '../../node/home.ts';
import type { NodeSettings } from '../../node/node-settings.ts';
import { nodeSettings } from '../../node/node-settings.ts';
import type { OutboundSettings } from '../../node/outbound-settings.ts';
import { readQueueFolder } from '../../node/queues/queue-folder.ts';
import { readIfThere } from './serve-settings.ts';

type Queues = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** Taken up at once: scripts that start and calls that are made from now on see them. */
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

/** Holds tokens: its value is never shown. */
const SECRET: ReadonlySet<string> = new Set(['destinations', 'hooks']);

export class LiveSettings implements NodeSettings {
  readonly #home: Home;
  readonly #port: number;
  #now: NodeSettings;
  #file: Readonly<Record<string, unknown>>;
  #queues: Queues = new Map();

  constructor(home: Home, port: number) {
    this.#home = home;
    this.#port = port;
    this.#now = nodeSettings(readIfThere(home.settings), port);
    mustBeOurs(home.settings, this.#now);
    this.#file = parsed(readIfThere(home.settings));
  }

  get name(): string | null {
    return this.#now.name;
  }
  get url(): string {
    return this.#now.url;
  }
  get isUrlSet(): boolean {
    return this.#now.isUrlSet;
  }
  get copyUpTo(): number {
    return this.#now.copyUpTo;
  }
  get aliases(): readonly string[] {
    return this.#now.aliases;
  }
  get port(): number {
    return this.#now.port;
  }
  get env(): string {
    return this.#now.env;
  }
  /** Of the start: which scripts may run is decided when a queue's lane is made. */
  get scriptDirs(): readonly string[] {
    return this.#now.scriptDirs;
  }

  /** Of the start, as the workers were told then. */
  get offers(): string {
    return this.#now.offers;
  }

  get rq(): NodeSettings['rq'] {
    return this.#now.rq;
  }

  get outbound(): OutboundSettings {
    return this.#now.outbound;
  }

  async remember(): Promise<void> {
    this.#queues = await readQueues(this.#home);
  }

  /** Answers what changed, in lines. A node.json that is wrong throws, and nothing of it is taken. */
  async takeUp(): Promise<readonly string[]> {
    const text = readIfThere(this.#home.settings);
    const next = nodeSettings(text, this.#port);
    mustBeOurs(this.#home.settings, next);
    const file = parsed(text);
    const queues = await readQueues(this.#home);
    const lines = [...fileChanges(this.#file, file), ...queueChanges(this.#queues, queues)];
    this.#now = { ...next, scriptDirs: this.#now.scriptDirs, rq: this.#now.rq };
    this.#file = file;
    this.#queues = queues;
    return lines;
  }
}

const READABLE_BY_OTHERS = 0o077;

/** A file with tokens in it is for one pair of eyes. */
function mustBeOurs(path: string, { outbound }: NodeSettings): void {
  const isSecret = outbound.hooks.secrets.size > 0;
  const hasToken = isSecret || [...outbound.destinations.values()].some(({ token }) => token !== null);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if (!hasToken || (mode & READABLE_BY_OTHERS) === 0) return;
  const message = `holds tokens or secrets and may be read by others (mode 0${(mode & 0o777).toString(8)}): chmod 0600 ${path}`;
  throw badInput('node.json', [{ path: '', message }]);
}

/** It was checked a moment ago. */
const parsed = (text: string | undefined): Readonly<Record<string, unknown>> =>
  text === undefined ? {} : (JSON.parse(text) as Record<string, unknown>);

async function readQueues(home: Home): Promise<Queues> {
  const definitions = await readQueueFolder(home);
  return new Map(definitions.map(({ name, settings, problem }) => [name, { ...settings, problem }]));
}

function fileChanges(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[] {
  return differing(before, after).map((key) => {
    const change = SECRET.has(key)
      ? `node.json: ${key} changed`
      : `node.json: ${key} is ${shown(after[key])} now, was ${shown(before[key])}`;
    return LIVE.has(key) ? change : `${change}; takes effect with the next start`;
  });
}

function queueChanges(before: Queues, after: Queues): string[] {
  const gone = [...before.keys()].filter((name) => !after.has(name)).map((name) => `queue ${name}: is gone`);
  const others = [...after].flatMap(([name, settings]) => {
    const old = before.get(name);
    if (old === undefined) return [`queue ${name}: is new`];
    const keys = differing(old, settings);
    return keys.length === 0 ? [] : [`queue ${name}: ${keys.join(', ')} changed`];
  });
  return [...gone, ...others];
}

function differing(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
}

const shown = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value));
