/**
 * Where the primary of a namespace is, and a connection to it: the server that was named, the one that Sentinels call
 * by its name, or the node that has the namespace's slot. Asked anew for every connection, since it moves.
 *
 * It must never hand out a connection to a server that is no primary, or before it has been asked for its reign
 * (lua/operations/epoch.lua): tokens would be given twice.
 */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { epochText } from '../calls/scripts.ts';
import { SCHEMA } from '../encoding/layout.ts';
import { type Layout, type Place, placeText } from './address.ts';
import { keyPrefix, type Login, type OpenWire, type Wire } from './client-library.ts';
import { within } from './deadline.ts';
import { type Whereabouts, whereaboutsOf } from './discovery.ts';
import type { RedisSettings } from './options.ts';
import { errorWord } from './problem.ts';
import { checkFacts } from './start-checks.ts';

/** So many Sentinels or nodes are asked at once, and so long they have. */
const MOST_ASKED = 5;
const ANSWER_MS = 1_000;

export interface Found {
  readonly wire: Wire;
  /** What INFO says; empty where it is forbidden. */
  readonly facts: string;
}

export class Primary {
  readonly #openWire: OpenWire;
  readonly #settings: RedisSettings;
  /** Sentinels or nodes that we heard of, by their text; the ones that were named come first. */
  readonly #known = new Map<string, Place>();
  #layout: Layout;
  #reign = 0;

  constructor(openWire: OpenWire, settings: RedisSettings) {
    this.#openWire = openWire;
    this.#settings = settings;
    this.#layout = settings.address.layout;
    this.#learn(settings.address.places);
  }

  get layout(): Layout {
    return this.#layout;
  }

  /** Throws why there is none. */
  async open(): Promise<Found> {
    const places = await this.places();
    let why: unknown = new LonghaulError('store-unavailable', this.#nobodyKnows());
    for (const place of places) {
      try {
        return await this.#openAt(place);
      } catch (error) {
        why = error;
      }
    }
    // A node of a cluster that was named alone sends us elsewhere.
    if (this.#layout !== 'single' || errorWord(why) !== 'MOVED') throw why;
    this.#layout = 'cluster';
    return this.open();
  }

  /** Where it is said to be, the place that most of those say who were asked first. */
  async places(): Promise<readonly Place[]> {
    if (this.#layout === 'single') return this.#settings.address.places;
    const { connectTimeoutMs } = this.#settings;
    const asked = [...this.#known.values()].slice(0, MOST_ASKED);
    const hurried = await this.#askAll(asked, Math.min(ANSWER_MS, connectTimeoutMs));
    // Where all are slow it is the way or the machine: they are given more time before nobody is found.
    const heard = hurried.length > 0 ? hurried : await this.#askAll(asked, connectTimeoutMs);
    this.#learn(heard.flatMap(({ others }) => others));
    return byVotes(heard.flatMap(({ primary }) => (primary === null ? [] : [primary])));
  }

  async #askAll(asked: readonly Place[], answerMs: number): Promise<readonly Whereabouts[]> {
    const answers = await Promise.allSettled(asked.map((place) => this.#ask(place, answerMs)));
    this.#forgetSilent(asked.filter((_, index) => answers[index]?.status === 'rejected'));
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  async #ask(place: Place, answerMs: number): Promise<Whereabouts> {
    const { address, sentinel } = this.#settings;
    const login: Login = this.#layout === 'sentinel' ? { ...sentinel, db: 0 } : { ...address, db: 0 };
    const opening = this.#openWire(place, login);
    // Whatever opens too late is closed by this as well.
    const closing = () => opening.then((wire) => wire.destroy()).catch(() => undefined);
    try {
      const asking = opening.then((wire) => whereaboutsOf(wire, this.#layout, this.#settings));
      return await within(answerMs, asking);
    } finally {
      void closing();
    }
  }

  async #openAt(place: Place): Promise<Found> {
    const { address, commandTimeoutMs } = this.#settings;
    const wire = await this.#openWire(place, address);
    try {
      const facts = await within(commandTimeoutMs, factsOf(wire));
      checkFacts(facts);
      await within(commandTimeoutMs, this.#greet(wire));
      if (this.#layout === 'single' && facts.includes('cluster_enabled:1')) await this.#joinCluster();
      return { wire, facts };
    } catch (error) {
      wire.destroy();
      throw error;
    }
  }

  async #greet(wire: Wire): Promise<void> {
    const { namespace, create } = this.#settings;
    // A server that has answered before may have lost everything since: then the store begins anew there.
    const isCreating = create || this.#reign > 0;
    const asked = [SCHEMA, String(this.#reign), isCreating ? 'create' : ''];
    const args = ['EVAL', epochText(), '1', keyPrefix(this.#settings), ...asked];
    const [schema, reign = '', primary = ''] = (await wire.send(args)) as readonly [string | null, ...string[]];
    if (primary !== '') {
      const words = `${placeText(wire.place)} is a replica of ${primary}: name the primary, or its Sentinels (redis+sentinel://)`;
      throw new LonghaulError('store-unavailable', words);
    }
    if (schema === null) {
      const words = `namespace ${namespace} of ${placeText(wire.place)} holds no store: name another one; longhaul serve --store ADDRESS creates one there`;
      throw new LonghaulError('store-incompatible', words);
    }
    if (schema !== SCHEMA) {
      const words = `namespace ${namespace} was written by another version of Longhaul (schema ${schema}, not ${SCHEMA})`;
      throw new LonghaulError('store-incompatible', words);
    }
    this.#reign = Math.max(this.#reign, Number(reign));
  }

  /** The other nodes are learned at once, while the one that was named lives. */
  async #joinCluster(): Promise<void> {
    this.#layout = 'cluster';
    await this.places();
  }

  #learn(places: readonly Place[]): void {
    for (const place of places) this.#known.set(placeText(place), place);
  }

  /** Those who did not answer are asked last from now on; none is forgotten, since all of them may be away for a while. */
  #forgetSilent(places: readonly Place[]): void {
    for (const place of places) this.#known.delete(placeText(place));
    this.#learn(places);
  }

  #nobodyKnows(): string {
    const asked = [...this.#known.keys()].slice(0, MOST_ASKED).join(', ');
    if (this.#layout === 'cluster') return `no node of the cluster could be asked where the namespace is: ${asked}`;
    return `no Sentinel could be asked, or none knows a primary called ${this.#settings.address.name}: ${asked}`;
  }
}

async function factsOf(wire: Wire): Promise<string> {
  try {
    return String(await wire.send(['INFO']));
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
