/**
 * Entries that a bridge has taken out of the queues of another system, held in one hash of the source until their jobs
 * are in the store:
 *
 *     queue ──take──▶ taken ──jobs are drafts──▶ added ──drafts are committed──▶ (removed)
 *                       └──────cannot be a job──────────▶ rejected (kept)
 *
 * Invariant: every arrow is one atomic script in the source, and only the holder of the lock runs it.
 * Invariant: a draft is never committed before its entry is `added`, and never added again after that. So an entry becomes
 * one job, wherever the bridge was killed, and even if that job ended and was deleted meanwhile.
 */
import { LonghaulError } from '../../core/ports/errors.ts';

/** Runs a Lua script in the source. */
export interface SourceScripts {
  run(script: string, args: readonly string[]): Promise<unknown>;
}

export interface HeldEntry {
  readonly number: string;
  readonly phase: 'taken' | 'added' | 'rejected';
  /** When it was taken, in epoch milliseconds of the bridge. */
  readonly at: number;
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface HoldOptions {
  readonly scripts: SourceScripts;
  /** The hash of the entries; the lock is beside it. */
  readonly key: string;
  /** Names this bridge, for the lock and for messages. */
  readonly owner: string;
  readonly now: () => number;
}

/** How long a lock outlives a bridge that was killed. */
export const LOCK_MS = 3_000;
const LOST = 'BRIDGELOST';

/** Each script begins so. ARGV: hash, lock, owner, milliseconds of the lock, now, then its own. */
const BEGIN = `
local hash, lock, owner, ms, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local holder = redis.call('GET', lock)
if holder and holder ~= owner then return redis.error_reply('${LOST} ' .. holder) end
redis.call('SET', lock, owner, 'PX', ms)
local function hold(entry)
  local number = redis.call('HINCRBY', hash, 'count', 1)
  redis.call('HSET', hash, number, cjson.encode({ phase = 'taken', at = now, entry = entry }))
end
`;
const LIST = `return redis.call('HGETALL', hash)`;
/** ARGV: phase, then numbers and values. Changes entries that are still held, and returns their numbers. */
const CHANGE = `
local changed = {}
for at = 6, #ARGV, 2 do
  if redis.call('HEXISTS', hash, ARGV[at]) == 1 then
    redis.call('HSET', hash, ARGV[at], ARGV[at + 1])
    changed[#changed + 1] = ARGV[at]
  end
end
return changed`;
/** ARGV: how many numbers, the numbers, then keys of the source to delete with them. */
const REMOVE = `
local last = 6 + tonumber(ARGV[6])
for at = 7, last do redis.call('HDEL', hash, ARGV[at]) end
for at = last + 1, #ARGV do redis.call('DEL', ARGV[at]) end
return last`;
const UNLOCK = `return redis.call('DEL', lock)`;
/** The random name of this hash: numbers start over when it is deleted, and ids must not. */
const NAME = `redis.call('HSETNX', hash, 'name', ARGV[6]) return redis.call('HGET', hash, 'name')`;

export class HeldEntries {
  readonly #options: HoldOptions;

  constructor(options: HoldOptions) {
    this.#options = options;
  }

  /** Runs a script that takes entries; its arguments begin at ARGV[6], and it calls `hold(entry)` for each. */
  async take(script: string, args: readonly string[]): Promise<number> {
    return Number(await this.#run(script, args));
  }

  async name(random: string): Promise<string> {
    return String(await this.#run(NAME, [random]));
  }

  /** Lists the held entries in the order in which they were taken. */
  async list(): Promise<readonly HeldEntry[]> {
    const fields = flat(await this.#run(LIST, []));
    const entries: HeldEntry[] = [];
    for (let at = 0; at < fields.length; at += 2) {
      const [number = '', value = ''] = [fields[at], fields[at + 1]];
      if (!/^\d+$/.test(number)) continue;
      const { phase, at: takenAt, entry } = JSON.parse(value) as Omit<HeldEntry, 'number' | 'at'> & { at: string };
      entries.push({ number, phase, at: Number(takenAt), entry });
    }
    return entries.sort((a, b) => Number(a.number) - Number(b.number));
  }

  /** Moves entries to a phase. Returns those that are still held. */
  async change(entries: readonly HeldEntry[], phase: HeldEntry['phase']): Promise<readonly HeldEntry[]> {
    if (entries.length === 0) return [];
    const values = entries.flatMap(({ number, at, entry }) => [
      number,
      JSON.stringify({ phase, at: String(at), entry }),
    ]);
    const changed = new Set(flat(await this.#run(CHANGE, values)));
    return entries.filter(({ number }) => changed.has(number));
  }

  async remove(entries: readonly HeldEntry[], keys: readonly string[] = []): Promise<void> {
    if (entries.length === 0) return;
    await this.#run(REMOVE, [String(entries.length), ...entries.map(({ number }) => number), ...keys]);
  }

  async unlock(): Promise<void> {
    await this.#run(UNLOCK, []);
  }

  /** Takes the lock, or renews it. Returns the other holder, or null. */
  async lock(): Promise<string | null> {
    return this.#run('return 1', []).then(
      () => null,
      (error: unknown) => {
        const holder = lockHolder(error);
        if (holder === null) throw error;
        return holder;
      },
    );
  }

  #run(script: string, args: readonly string[]): Promise<unknown> {
    const { scripts, key, owner, now } = this.#options;
    const head = [key, `${key}:lock`, owner, String(LOCK_MS), String(now())];
    return scripts.run(BEGIN + script, [...head, ...args]);
  }
}

/** Returns the holder of the lock that a script was refused for; null for any other error. */
export function lockHolder(error: unknown): string | null {
  for (let each = error; each instanceof Error; each = each.cause) {
    const [, holder] = new RegExp(`${LOST} (\\S+)`).exec(each.message) ?? [];
    if (holder !== undefined) return holder;
  }
  return null;
}

export function lockLost(holder: string): LonghaulError {
  return new LonghaulError('refused', `another import follows this source: ${holder}`);
}

const flat = (answer: unknown): readonly string[] => {
  if (Array.isArray(answer)) return answer.flat().map(String);
  return typeof answer === 'object' && answer !== null ? Object.entries(answer).flat().map(String) : [];
};
