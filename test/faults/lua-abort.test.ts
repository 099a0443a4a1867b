/**
 * A Lua script that is aborted between two of its writes: Redis rolls nothing back, so the next call must repair the keys.
 *
 * Every changing script is aborted before its first write, its second, and so on. Then either the same call is repeated, or
 * another call is made. In both cases all keys must be consistent, and no effect may occur twice.
 */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HistoryRow } from '../../src/core/job/history.ts';
import { perform, portsOver } from '../../src/stores/redis/calls/redis-calls.ts';
import { clockArgument } from '../../src/stores/redis/calls/script-runner.ts';
import { ScriptSteps } from '../../src/stores/redis/calls/script-steps.ts';
import { CHANGING_SCRIPTS, type ScriptName, scriptText } from '../../src/stores/redis/calls/scripts.ts';
import { Workbench } from '../contract/workbench.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { testSize } from '../support/test-size.ts';
import { LIMIT_SCENARIOS } from './abort-limits.ts';
import { ORDINARY_SCENARIOS } from './abort-ordinary.ts';
import { SCENARIOS, type Scenario } from './abort-scenarios.ts';
import { STEP_SCENARIOS } from './abort-steps.ts';
import { findInconsistencies } from './redis-keys.ts';

const WRITE = 'local function write(...)\nreturn call(...)\nend';
const CASES = [...SCENARIOS, ...LIMIT_SCENARIOS, ...ORDINARY_SCENARIOS, ...STEP_SCENARIOS].map((scenario) => ({
  title: [scenario.name, scenario.which].filter(Boolean).join(', '),
  scenario,
}));

let server: RedisServer;
let client: ReturnType<typeof createClient>;
let namespaces = 0;

const TRAP = 'which-write';

/** Caches script texts: they are assembled from files, and used thousands of times. */
function cached(textOf: (name: ScriptName) => string): (name: ScriptName) => string {
  const known = new Map<ScriptName, string>();
  return (name) => {
    const text = known.get(name) ?? textOf(name);
    known.set(name, text);
    return text;
  };
}

const plain = cached(scriptText);

/** Returns the script with a trap before one of its writes. A key holds the number of the write, so one text serves all. */
const withTrap = cached((name) => {
  const parts = scriptText(name).split(WRITE);
  expect(parts).toHaveLength(2);
  const trap = "if written == stop then error('stopped before write ' .. written) end";
  return parts.join(
    `local written, stop = 0, tonumber(redis.call('GET', '${TRAP}'))\nlocal function write(...)\n  written = written + 1\n  ${trap}\n  return call(...)\nend`,
  );
});

const loaded = new Map<string, Promise<string>>();

/** Loads a script once; later calls use its hash. */
function hashOf(text: string): Promise<string> {
  const known = loaded.get(text) ?? client.scriptLoad(text);
  loaded.set(text, known);
  return known;
}

/** A namespace of its own, and the ports over scripts whose text the test chooses. */
class Trial {
  readonly bench: Workbench;
  readonly #namespace: string;
  readonly #scenario: Scenario;
  #textOf: (name: ScriptName) => string = plain;
  /** Sends one script. */
  readonly #send = async (name: ScriptName, args: readonly string[], now?: number): Promise<unknown> => {
    const hash = await hashOf(this.#textOf(name));
    const clock = clockArgument('guarded', now);
    return await client.sendCommand(['EVALSHA', hash, '1', `{${this.#namespace}}`, clock, ...args]);
  };
  readonly #steps = new ScriptSteps(this.#send, () => undefined);

  private constructor(scenario: Scenario) {
    namespaces += 1;
    this.#namespace = `trial-${namespaces}`;
    this.#scenario = scenario;
    const run = this.#steps.run.bind(this.#steps);
    this.bench = new Workbench({
      ...portsOver(
        (name, argument, options) => perform({ run }, name, argument, options?.now),
        () => () => undefined,
      ),
      isShared: true,
      describe: () => null,
      close: async () => undefined,
    });
  }

  static async prepare(scenario: Scenario): Promise<Trial> {
    await client.flushDb('SYNC');
    const trial = new Trial(scenario);
    await scenario.prepare(trial.bench);
    return trial;
  }

  async call(textOf: (name: ScriptName) => string = plain): Promise<unknown> {
    this.#textOf = textOf;
    try {
      const { bench } = this;
      return await this.#scenario.call(bench, (name, args) => this.#steps.run(name, args, bench.now));
    } finally {
      this.#textOf = plain;
    }
  }

  inconsistencies(): Promise<string[]> {
    return findInconsistencies((args) => client.sendCommand([...args]), this.#namespace);
  }

  /** The final content of the store, without the numbers that an aborted call uses up. */
  async end(): Promise<unknown> {
    const { jobs } = this.bench;
    const found = [...(await jobs.list({ order: 'newest', limit: 100 })).jobs].sort((a, b) => (a.id < b.id ? -1 : 1));
    const histories = await Promise.all(found.map(({ id }) => jobs.history(id)));
    const statistics = await jobs.insight({ kind: 'statistics', by: 'worker' });
    const logs = await Promise.all(
      found.map(({ id }) => this.bench.store.logs.read({ id, attempt: 1, from: 0 }, { now: this.bench.now })),
    );
    const texts = logs.map((log) => log?.text);
    const rest = [statistics, texts, await jobs.count(), await jobs.workers()];
    return withoutNumbers([found, histories.map(withoutRepeats), ...rest]);
  }

  /** Repairs an aborted call with scripts whose text the test chooses. */
  async repair(textOf: (name: ScriptName) => string): Promise<void> {
    this.#textOf = textOf;
    try {
      await this.#send('repair', [], this.bench.now);
    } finally {
      this.#textOf = plain;
    }
  }
}

/** A repeated change or event adds a history row again. */
const withoutRepeats = (rows: readonly HistoryRow[]): readonly HistoryRow[] =>
  rows.filter(({ event }, at) => event !== rows[at - 1]?.event || (event !== 'changed' && event !== 'notified'));

const withoutNumbers = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, each: unknown) => (key === 'token' || key === 'seq' ? 0 : each)));

/** At the small size: the first write, and then every third from a random one on. */
const strideOf = (scenario: Scenario): number =>
  scenario.abortsBeforeEveryWrite ? 1 : testSize({ small: 3, full: 1 });

/** Aborts the call before one write after the other, each in a new namespace; ends when the call has no further write. */
async function* abortedTrials(scenario: Scenario): AsyncGenerator<{ trial: Trial; n: number }> {
  const stride = strideOf(scenario);
  const second = 2 + Math.floor(Math.random() * stride);
  for (let n = 1; ; n = n === 1 ? second : n + stride) {
    const trial = await Trial.prepare(scenario);
    await client.set(TRAP, n);
    const error = await trial.call(withTrap).then(() => null, String);
    if (error === null) return expect(n, 'the call must write').toBeGreaterThan(1);
    expect(error).toContain(`stopped before write ${n}`);
    yield { trial, n };
  }
}

describeWithRedis('a script that is aborted before one of its writes', () => {
  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url, RESP: 2 });
    await client.connect();
  });

  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  it('is tested for every script that writes', () => {
    const named = [...SCENARIOS, ...STEP_SCENARIOS].map(({ name }) => name);
    expect(new Set([...named, 'repair'])).toEqual(new Set(CHANGING_SCRIPTS));
  });

  it.each(CASES)('$title: is repaired by the repeated call', async ({ scenario }) => {
    const whole = await Trial.prepare(scenario);
    const answer = withoutNumbers(await whole.call());
    const end = await whole.end();
    expect(await whole.inconsistencies()).toEqual([]);
    for await (const { trial, n } of abortedTrials(scenario)) {
      const again = withoutNumbers(await trial.call());
      expect(await trial.inconsistencies(), `before write ${n}`).toEqual([]);
      expect(await trial.end(), `before write ${n}`).toEqual(end);
      if (scenario.repeatsAnswer) expect(again, `before write ${n}`).toEqual(answer);
    }
  });

  it.each(CASES.filter(({ scenario }) => !scenario.isClosed))(
    '$title: is repaired by another call',
    async ({ scenario }) => {
      for await (const { trial, n } of abortedTrials(scenario)) {
        await trial.bench.jobs.maintain({ limit: 1_000 });
        expect(await trial.inconsistencies(), `before write ${n}`).toEqual([]);
      }
    },
  );

  const repaired = CASES.filter(
    ({ title }) => title === 'settle' || title === 'add' || title === 'claim, ordinary jobs',
  );

  it.each(repaired)('$title: a repair that is aborted is repeated by the next call', async ({ scenario }) => {
    expect(repaired).toHaveLength(3);
    for await (const { trial, n } of abortedTrials(scenario)) {
      const stop = 1 + (n % 4);
      await client.set(TRAP, stop);
      const error = await trial.repair(withTrap).then(() => null, String);
      if (error !== null) expect(error).toContain(`stopped before write ${stop}`);
      await trial.call();
      expect(await trial.inconsistencies(), `before write ${n}, then before write ${stop}`).toEqual([]);
    }
  });
});
