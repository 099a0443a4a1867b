/** The everyday cases of settle and claim (lua/swift.lua) and of add (lua/birth.lua) say and write what the usual way would. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import type { Job } from '../../core/job/job.ts';
import type { NewJob, Settlement } from '../../core/ports/job-store.ts';
import { addArguments } from './calls/add-request.ts';
import { settleArguments } from './calls/requests.ts';
import { type ScriptName, scriptText } from './calls/scripts.ts';
import { readHistory } from './encoding/job-history.ts';
import { fieldsOf, readJobs } from './encoding/job-record.ts';
import { FIELD } from './encoding/layout.ts';

const START = 1_750_000_000_000;
const STEPS = 240;
type Way = 'usual' | 'swift';
type Roll = (sides: number) => number;

/** The same sequence of numbers for the same seed. */
function dice(seed: number): Roll {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** The script with the everyday case shut off, or with a count of how often it was enough. */
function textOf(way: Way, name: ScriptName): string {
  const text = scriptText(name);
  const isAdd = name === 'add';
  if (way === 'usual')
    return text.replace(isAdd ? '= birth(' : 'swift.run(', (found) => found.replace(/[\w.]+/, '(function() end)'));
  return text.replace('if said then', `if said then redis.call('INCR', '${isAdd ? 'born' : 'taken'}')`);
}

describeWithRedis('the everyday case', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  const hashes = new Map<string, string>();
  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url, RESP: 2 });
    await client.connect();
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  async function run(way: Way, name: ScriptName, args: readonly string[]): Promise<string[]> {
    const key = `${way} ${name}`;
    const sha = hashes.get(key) ?? (await client.scriptLoad(textOf(way, name)));
    hashes.set(key, sha);
    const answer: unknown = await client.sendCommand(['EVALSHA', sha, '1', `{${way}}`, ...args]);
    return Array.isArray(answer) ? (answer as string[]) : [String(answer)];
  }

  /** Every key of a namespace; records as what they mean, since their fields have no order. */
  async function everything(way: Way): Promise<unknown> {
    const keys = ((await client.sendCommand(['KEYS', `{${way}}*`])) as unknown as string[]).sort();
    const found = await Promise.all(
      keys.filter((key) => !key.endsWith('}j')).map(async (key) => [key.slice(way.length + 2), await contents(key)]),
    );
    const all = (await client.sendCommand(['HGETALL', `{${way}}j`])) as unknown as string[];
    const records = all.flatMap((id, at) => (at % 2 === 0 ? [[id, all[at + 1] ?? ''] as const] : []));
    records.sort(([a], [b]) => (a < b ? -1 : 1));
    const read = records.map(([id, text]) =>
      /^[@#$%+]/.test(id) ? [id, text] : [id, text.slice(0, text.indexOf(FIELD)), fieldsOf(text), readHistory(text)],
    );
    return [found, read];
  }

  async function contents(key: string): Promise<unknown> {
    const ask = (...args: string[]) => client.sendCommand(args) as Promise<unknown>;
    const type = String(await ask('TYPE', key));
    if (type === 'list') return await ask('LRANGE', key, '0', '-1');
    if (type === 'zset') return await ask('ZRANGE', key, '0', '-1', 'WITHSCORES');
    const pairs = (await ask('HGETALL', key)) as string[];
    return pairs.flatMap((field, at) => (at % 2 === 0 ? [`${field}=${pairs[at + 1]}`] : [])).sort();
  }

  it.each(['guarded', 'caller'])('by a clock that is %s', async (clock) => {
    await client.flushAll();
    const roll = dice(11);
    let running: readonly Job[] = [];
    let now = START;
    for (let step = 0; step < STEPS; step += 1) {
      now += roll(50) === 0 ? -100 : roll(400);
      const time = `${clock} ${now}`;
      const added = Array.from({ length: roll(6) }, (_, at) =>
        someJob(`job-${step - (roll(40) === 0 ? 1 : 0)}-${at}`, roll),
      );
      const settled = running.slice(0, roll(6));
      const said = settleArguments(settled.map((job) => someSettlement(job, roll)));
      const request = ['w', `request-${roll(20) === 0 ? step - 1 : step}`, String(1 + roll(6)), '', 'q', 'other'];
      const call = someCall(roll, said, request);
      const answers = await Promise.all(
        (['usual', 'swift'] as const).map(async (way) => {
          const born = added.length > 0 ? await run(way, 'add', [time, ...addArguments(added)]) : [];
          return { born, said: await run(way, call.name, [time, ...call.args]) };
        }),
      );
      const [usual = [], swift = []] = answers.map(({ said }) => meaning(said, call.name));
      expect(swift, `step ${step}, ${call.name}`).toEqual(usual);
      expect(answers[1]?.born, `step ${step}, add`).toEqual(answers[0]?.born);
      if (call.name !== 'claim') running = running.slice(settled.length);
      if (call.name !== 'settle') running = [...running, ...(usual.at(-1) as Job[])];
      if (step % 40 === 0 || step === STEPS - 1) expect(await everything('swift')).toEqual(await everything('usual'));
    }
    for (const count of ['taken', 'born']) {
      const times = Number(await client.get(count));
      expect(times).toBeGreaterThan(STEPS / 3);
      expect(times).toBeLessThan(STEPS);
    }
  });

  it.each([
    { priority: 5 },
    { priority: 0, retries: 2 },
    { state: 'down' },
    { state: 'paused' },
    { keys: { by: ['n'], limit: 1 } },
    { coalesce: { by: ['n'] } },
  ])('an add goes by what its queue has set: %j', async (settings) => {
    await client.flushAll();
    const words = await Promise.all(
      (['usual', 'swift'] as const).map(async (way) => {
        const add = (id: string) =>
          run(way, 'add', [`guarded ${START}`, ...addArguments([{ id, queue: 'q', data: '{"n":1}' }])]);
        await add('before');
        await run(way, 'records-put', [`guarded ${START}`, 'queue', 'q', JSON.stringify(settings), '', '']);
        return [await add('a'), await add('b')];
      }),
    );
    expect(words[1]).toEqual(words[0]);
    expect(await everything('swift')).toEqual(await everything('usual'));
  });
});

function someCall(roll: Roll, said: string[], request: string[]): { name: ScriptName; args: string[] } {
  if (said.length === 0 || roll(4) === 0) return { name: 'claim', args: request };
  if (roll(4) === 0) return { name: 'settle', args: said };
  return { name: 'settle-claim', args: [String(said.length), ...said, ...request] };
}

/** The answer with its jobs read; the last part is always what was claimed. */
function meaning(answer: readonly string[], name: ScriptName): unknown[] {
  if (name === 'settle') return [...answer];
  const from = name === 'claim' ? 2 : 3;
  return [...answer.slice(0, from), readJobs(answer, from)];
}

/** Mostly plain. */
function someJob(id: string, roll: Roll): NewJob {
  const kinds: Partial<NewJob>[] = [
    { name: 'named', policy: { retries: 2 } },
    { queue: 'other' },
    { priority: roll(3) - 1 },
    { delayMs: 500 },
    { data: JSON.stringify('x'.repeat(2_000)) },
    { tags: ['red'] },
    { unique: { key: id, scope: 'queue', until: 'ended', periodMs: 0 } },
  ];
  const special = roll(100) < kinds.length ? kinds[roll(roll(4) === 0 ? kinds.length : 2)] : {};
  return { id, queue: 'q', data: `{"n":${roll(10)}}`, ...special };
}

/** Mostly complete; now and then under a token that is not the job's. */
function someSettlement({ id, lease }: Job, roll: Roll): Settlement {
  const held = { id, token: (lease?.token ?? 0) - (roll(40) === 0 ? 1 : 0) };
  const failure = { group: 'boom', message: 'no', detail: null };
  const others: Settlement[] = [
    { ...held, kind: 'complete', next: { queue: 'other', delayMs: 0 } },
    { ...held, kind: 'fail', failure, delayMs: 500 },
    { ...held, kind: 'release', reason: 'drain' },
    { ...held, kind: 'complete', result: JSON.stringify('y'.repeat(2_000)) },
  ];
  const other = roll(40) === 0 ? others[roll(others.length)] : undefined;
  return other ?? { ...held, kind: 'complete', ...(roll(2) === 0 && { result: '{"a":1}' }) };
}
