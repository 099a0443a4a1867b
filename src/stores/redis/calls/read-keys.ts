/** Reads the keys of another system in a Redis server. It sends only commands that change nothing. */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { settingsOf } from '../client/options.ts';
import { toProblem } from '../client/problem.ts';
import { type Client, clientsOf } from '../client/redis-client.ts';

export interface KeyReader {
  hash(key: string): Promise<Readonly<Record<string, string>>>;
  list(key: string): Promise<readonly string[]>;
  /** A list of values that are not text. */
  bytes(key: string): Promise<readonly Uint8Array[]>;
  set(key: string): Promise<readonly string[]>;
  /** Members with their scores. */
  sorted(key: string): Promise<readonly (readonly [string, number])[]>;
  /** All keys with this prefix, sorted. */
  keys(prefix: string): Promise<readonly string[]>;
  close(): void;
}

export async function openKeyReader(url: string): Promise<KeyReader> {
  const settings = settingsOf({ url });
  const [place] = settings.address.places;
  if (place === undefined) throw new LonghaulError('bad-input', 'the address names no server');
  try {
    return readerOver(await clientsOf(settings)(place, settings.address));
  } catch (error) {
    throw toProblem(error, 'opening');
  }
}

/** Over a client alone: opening a store would check whether it can write there. */
function readerOver(client: Client): KeyReader {
  const send = (...command: readonly string[]): Promise<unknown> => client.send(command);
  const texts = async (...command: readonly string[]) => textsOf(await send(...command));
  return {
    hash: async (key) => Object.fromEntries(pairsOf(await texts('HGETALL', key))),
    list: (key) => texts('LRANGE', key, '0', '-1'),
    bytes: async (key) => (await client.sendForBytes(['LRANGE', key, '0', '-1'])) as readonly Uint8Array[],
    set: async (key) => [...(await texts('SMEMBERS', key))].sort(),
    sorted: async (key) =>
      pairsOf(await texts('ZRANGE', key, '0', '-1', 'WITHSCORES')).map(([member, score]) => [member, Number(score)]),
    keys: (prefix) => scan(send, prefix),
    close: () => client.destroy(),
  };
}

async function scan(
  send: (...command: readonly string[]) => Promise<unknown>,
  prefix: string,
): Promise<readonly string[]> {
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = (await send(
      'SCAN',
      cursor,
      'MATCH',
      `${prefix.replaceAll(/[*?[\]\\]/g, '\\$&')}*`,
      'COUNT',
      '1000',
    )) as [unknown, unknown];
    for (const key of textsOf(keys)) found.add(key);
    cursor = String(next);
  } while (cursor !== '0');
  return [...found].sort();
}

/** A hash is a list of names and values, or a map, by version of the protocol. */
function textsOf(answer: unknown): readonly string[] {
  if (Array.isArray(answer)) return answer.flat().map(String);
  if (answer instanceof Map) return [...answer].flat().map(String);
  if (typeof answer === 'object' && answer !== null) return Object.entries(answer).flat().map(String);
  throw new LonghaulError('store-incompatible', `Redis answered ${typeof answer} where a list was expected`);
}

function pairsOf(all: readonly string[]): readonly (readonly [string, string])[] {
  return Array.from({ length: all.length / 2 }, (_, at) => [all[2 * at] ?? '', all[2 * at + 1] ?? ''] as const);
}
