/**
 * qless's configuration, kept as a record, and what it means here: settings of its queues. A queue is set up when it is used
 * first, and all of them again when an option changes.
 */
import { LonghaulError } from '../../core/ports/errors.ts';
import { QUEUE_RECORD, type QueueSettings } from '../../core/settings/settings.ts';
import { checkQueueName, mergeSettings, type SettingsInput } from '../../core/settings/settings-input.ts';
import type { Arguments, Call, Command } from './arguments.ts';
import { said, textArgument, wrong } from './arguments.ts';

export type ConfigValue = string | number;
export type Config = Readonly<Record<string, ConfigValue>>;

export const DEFAULT_RETRIES = 5;
const DEFAULTS: Config = {
  application: 'qless',
  heartbeat: 60,
  'grace-period': 10,
  'jobs-history': 7 * 86_400,
  'jobs-history-count': 50_000,
  'max-job-history': 100,
  'max-worker-age': 86_400,
  'stats-history': 30,
  'histogram-history': 7,
};

const KIND = 'qless';
const KEY = 'config';
const PAGE = 500;
const MOST_TRIES = 20;

export const configCommands: Readonly<Record<string, Command>> = {
  'config.get': async (call, [option]) => {
    const config = await readConfig(call);
    return option === undefined || option === '' ? config : (config[said(option)] ?? null);
  },
  'config.set': async (call, [option, value]) => {
    const name = textArgument(option, 'config.set', 'option');
    const given = toValue(value) ?? wrong('config.set(): Arg "value" missing');
    await writeConfig(call, (set) => ({ ...set, [name]: given }));
    return null;
  },
  'config.unset': async (call, args: Arguments) => {
    const name = textArgument(args[0], 'config.unset', 'option');
    await writeConfig(call, ({ [name]: _gone, ...rest }) => rest);
    return null;
  },
};

function toValue(value: unknown): ConfigValue | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
}

export async function readConfig({ longhaul }: Call): Promise<Config> {
  const record = await longhaul.store.records.get(KIND, KEY);
  return { ...DEFAULTS, ...(record === null ? {} : (JSON.parse(record.value) as Config)) };
}

export async function configNumber(call: Call, option: string): Promise<number> {
  return Number((await readConfig(call))[option]);
}

/** An option that no queue could be set to is refused before it is kept. */
export async function writeConfig(call: Call, change: (set: Config) => Config): Promise<void> {
  const { records } = call.longhaul.store;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const record = await records.get(KIND, KEY);
    const next = change(record === null ? {} : (JSON.parse(record.value) as Config));
    const config = { ...DEFAULTS, ...next };
    const queues = await qlessQueues(call);
    const named = Object.keys(next).map((option) => option.replace(/-(heartbeat|max-concurrency)$/, ''));
    for (const queue of [...named, ...queues]) mergeSettings({}, settingsFor(queue, config));
    const put = { kind: KIND, key: KEY, value: JSON.stringify(next), ifVersion: record?.version ?? 0 };
    if (!(await records.put(put)).ok) continue;
    for (const queue of queues) await call.longhaul.queue(queue).configure(settingsFor(queue, config));
    return;
  }
  throw new LonghaulError('store-unavailable', 'the configuration is being changed by too many at once');
}

/** Sets a queue up as qless has it, unless it is already. */
export async function useQueue(call: Call, queue: string): Promise<string> {
  checkQueueName(queue);
  const record = await call.longhaul.store.records.get(QUEUE_RECORD, queue);
  if (record === null || !isQless(queue, record.value))
    await call.longhaul.queue(queue).configure(settingsFor(queue, await readConfig(call)));
  return queue;
}

/** By name. */
export async function qlessQueues({ longhaul }: Call): Promise<readonly string[]> {
  const names: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await longhaul.store.records.list({ kind: QUEUE_RECORD, limit: PAGE, ...(after && { after }) });
    names.push(...page.filter(({ key, value }) => isQless(key, value)).map(({ key }) => key));
    after = page.at(-1)?.key;
    if (page.length < PAGE) return names;
  }
}

/** 0 is no limit. */
export const maxConcurrency = (queue: string): string => `${queue}-max-concurrency`;
export const exhaustedGroup = (queue: string): string => `failed-retries-${queue}`;

function isQless(queue: string, value: string): boolean {
  return (JSON.parse(value) as Partial<QueueSettings>).exhaustedGroup === exhaustedGroup(queue);
}

const HEARTBEATS_A_LEASE = 4;

function settingsFor(queue: string, config: Config): SettingsInput {
  const seconds = (option: string): number => Number(config[option]) * 1_000;
  const lease = `${queue}-heartbeat` in config ? seconds(`${queue}-heartbeat`) : seconds('heartbeat');
  return {
    lease,
    heartbeat: lease / HEARTBEATS_A_LEASE,
    retries: DEFAULT_RETRIES,
    onLost: 'requeue',
    lostCountsAs: 'failure',
    lostGrace: Math.max(0, seconds('grace-period')),
    exhaustedGroup: exhaustedGroup(queue),
    statsDays: Number(config['stats-history']),
    histogramDays: Number(config['histogram-history']),
    maxRunning: Number(config[maxConcurrency(queue)] ?? 0) || null,
    retention: { done: { for: seconds('jobs-history'), count: Number(config['jobs-history-count']) } },
  };
}
