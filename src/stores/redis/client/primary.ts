/**
 * Finds the primary of a namespace and connects to it: the server of the address, the primary that Sentinels report, or
 * the node that has the slot of the namespace. It searches again for every connection, because the primary moves.
 *
 * It must never return a client of a server that is not the primary, or whose epoch was not read (lua/operations/epoch.lua): tokens
 * would be given twice.
 */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { epochText } from '../calls/scripts.ts';
import { SCHEMA } from '../encoding/layout.ts';
import { type Layout, type Place, placeText } from './address.ts';
import { within } from './deadline.ts';
import { type Discovered, discover } from './discovery.ts';
import type { RedisSettings } from './options.ts';
import { errorWord } from './problem.ts';
import { type Client, keyPrefix, type Login, type OpenClient } from './redis-client.ts';
import { checkFacts } from './start-checks.ts';

/** How many Sentinels or nodes are asked at once, and for how long. */
const MAX_ASKED = 5;
const ANSWER_MS = 1_000;

export interface Found {
  readonly client: Client;
  /** The answer of INFO; empty where it is forbidden. */
  readonly facts: string;
}

export class Primary {
  readonly #openClient: OpenClient;
  readonly #settings: RedisSettings;
  /** Known Sentinels or nodes; those of the address come first. */
  readonly #known = new Map<string, Place>();
  #layout: Layout;
  #epoch = 0;

  constructor(openClient: OpenClient, settings: RedisSettings) {
    this.#openClient = openClient;
    this.#settings = settings;
    this.#layout = settings.address.layout;
    this.#remember(settings.address.places);
  }

  get layout(): Layout {
    return this.#layout;
  }

  /** Throws the reason when there is none. */
  async open(): Promise<Found> {
    const places = await this.places();
    let why: unknown = new LonghaulError('store-unavailable', this.#noPrimary());
    for (const place of places) {
      try {
        return await this.#openAt(place);
      } catch (error) {
        why = error;
      }
    }
    // The address names one node of a cluster, and another one has the slot.
    if (this.#layout !== 'single' || errorWord(why) !== 'MOVED') throw why;
    this.#layout = 'cluster';
    return this.open();
  }

  /** Returns where the primary may be, the place with the most votes first. */
  async places(): Promise<readonly Place[]> {
    if (this.#layout === 'single') return this.#settings.address.places;
    const { connectTimeoutMs } = this.#settings;
    const asked = [...this.#known.values()].slice(0, MAX_ASKED);
    const early = await this.#askAll(asked, Math.min(ANSWER_MS, connectTimeoutMs));
    // Where all are slow, the cause is the network or the machine: they get more time.
    const answers = early.length > 0 ? early : await this.#askAll(asked, connectTimeoutMs);
    this.#remember(answers.flatMap(({ others }) => others));
    return byVotes(answers.flatMap(({ primary }) => (primary === null ? [] : [primary])));
  }

  async #askAll(asked: readonly Place[], answerMs: number): Promise<readonly Discovered[]> {
    const answers = await Promise.allSettled(asked.map((place) => this.#ask(place, answerMs)));
    this.#moveToEnd(asked.filter((_, index) => answers[index]?.status === 'rejected'));
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  async #ask(place: Place, answerMs: number): Promise<Discovered> {
    const { address, sentinel } = this.#settings;
    const login: Login = this.#layout === 'sentinel' ? { ...sentinel, db: 0 } : { ...address, db: 0 };
    const opening = this.#openClient(place, login);
    // A client that opens after the deadline is closed as well.
    const closing = () => opening.then((client) => client.destroy()).catch(() => undefined);
    try {
      const asking = opening.then((client) => discover(client, this.#layout, this.#settings));
      return await within(answerMs, asking);
    } finally {
      void closing();
    }
  }

  async #openAt(place: Place): Promise<Found> {
    const { address, commandTimeoutMs } = this.#settings;
    const client = await this.#openClient(place, address);
    try {
      const facts = await within(commandTimeoutMs, factsOf(client));
      checkFacts(facts);
      await within(commandTimeoutMs, this.#readEpoch(client));
      if (this.#layout === 'single' && facts.includes('cluster_enabled:1')) await this.#joinCluster();
      return { client, facts };
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  async #readEpoch(client: Client): Promise<void> {
    const { namespace, create } = this.#settings;
    // A server that answered before may have lost its data since: then the store is created again.
    const isCreating = create || this.#epoch > 0;
    const args = [SCHEMA, String(this.#epoch), isCreating ? 'create' : ''];
    const command = ['EVAL', epochText(), '1', keyPrefix(this.#settings), ...args];
    const [schema, epoch = '', primary = ''] = (await client.send(command)) as readonly [string | null, ...string[]];
    if (primary !== '') {
      const message = `${placeText(client.place)} is a replica of ${primary}: name the primary, or its Sentinels (redis+sentinel://)`;
      throw new LonghaulError('store-unavailable', message);
    }
    if (schema === null) {
      const message = `namespace ${namespace} of ${placeText(client.place)} holds no store: name another one; longhaul serve --store ADDRESS creates one there`;
      throw new LonghaulError('store-incompatible', message);
    }
    if (schema !== SCHEMA) {
      const message = `namespace ${namespace} was written by another version of Longhaul (schema ${schema}, not ${SCHEMA})`;
      throw new LonghaulError('store-incompatible', message);
    }
    this.#epoch = Math.max(this.#epoch, Number(epoch));
  }

  /** Reads the other nodes at once, while the node of the address answers. */
  async #joinCluster(): Promise<void> {
    this.#layout = 'cluster';
    await this.places();
  }

  #remember(places: readonly Place[]): void {
    for (const place of places) this.#known.set(placeText(place), place);
  }

  /** Those that did not answer are asked last from now on. None is removed, because all may be unavailable for a while. */
  #moveToEnd(places: readonly Place[]): void {
    for (const place of places) this.#known.delete(placeText(place));
    this.#remember(places);
  }

  #noPrimary(): string {
    const asked = [...this.#known.keys()].slice(0, MAX_ASKED).join(', ');
    if (this.#layout === 'cluster') return `no node of the cluster could be asked where the namespace is: ${asked}`;
    return `no Sentinel could be asked, or none knows a primary called ${this.#settings.address.name}: ${asked}`;
  }
}

async function factsOf(client: Client): Promise<string> {
  try {
    return String(await client.send(['INFO']));
  } catch (error) {
    if (errorWord(error) === 'NOPERM') return '';
    throw error;
  }
}

function byVotes(places: readonly Place[]): readonly Place[] {
  const votes = new Map<string, { place: Place; count: number }>();
  for (const place of places) {
    const text = placeText(place);
    votes.set(text, { place, count: (votes.get(text)?.count ?? 0) + 1 });
  }
  return [...votes.values()].sort((a, b) => b.count - a.count).map(({ place }) => place);
}
