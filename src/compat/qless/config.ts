/**
 * qless's configuration, kept as a record, and its effect: settings of the queues. A queue is set up when it is first
 * used, and all of them again when an option changes. Values that no queue can have (a heartbeat of 0 or less) are kept
 * as they are; the layer applies them itself.
 */
import { LonghaulError } from '../../core/ports/errors.ts';
import { QUEUE_RECORD, type QueueSettings, settingsIn, settingsOf } from '../../core/settings/settings.ts';
import { checkQueueName, mergeSettings, type SettingsInput } from '../../core/settings/settings-input.ts';
import type { Arguments, Call, Command } from './arguments.ts';
import { asText, textArgument, wrong } from './arguments.ts';

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
  'max-pop-retry': 1,
  'max-worker-age': 86_400,
  'stats-history': 30,
  'histogram-history': 7,
};
/** The options that reqless has, in its order. Its values are texts. */
const REQLESS_OPTIONS = [
  'grace-period',
  'heartbeat',
  'jobs-history',
  'jobs-history-count',
  'max-job-history',
  'max-pop-retry',
  'max-worker-age',
];
/** Shown by `config.get` without an option only if they were set, as in qless-core. */
const UNLISTED = ['max-job-history', 'max-pop-retry', 'max-worker-age'];
const NUMBERS =
  /(^|-)(heartbeat|max-concurrency|max-pop-retry)$|^(grace-period|jobs-history|jobs-history-count|max-job-history|max-worker-age|stats-history|histogram-history)$/;
/** Workers of Longhaul itself take an expired lease back this long after a pop of qless would. */
const LOST_SLACK_MS = 300_000;
const MIN_LEASE_MS = 100;
const MAX_DAYS = 3_650;

const KIND = 'qless';
const KEY = 'config';
const PAGE = 500;
const MOST_TRIES = 20;

export const configCommands: Readonly<Record<string, Command>> = {
  'config.get': async (call, [option]) => {
    if (option === undefined || option === '') return listedConfig(call);
    return (await readConfig(call))[asText(option)] ?? null;
  },
  'config.set': async (call, [option, value]) => {
    const name = textArgument(option, 'config.set', 'option');
    const given = toValue(value) ?? wrong('config.set(): Arg "value" missing');
    if (NUMBERS.test(name) && typeof given !== 'number')
      wrong(`config.set(): "${name}" must be a number: ${asText(value)}`);
    await writeConfig(call, (set) => ({ ...set, [name]: given }));
    call.session.publish('log', JSON.stringify({ option: name, event: 'config_set', value: asText(value) }));
    return null;
  },
  'config.unset': async (call, args: Arguments) => {
    const name = textArgument(args[0], 'config.unset', 'option');
    await writeConfig(call, ({ [name]: _gone, ...rest }) => rest);
    call.session.publish('log', JSON.stringify({ event: 'config_unset', option: name }));
    return null;
  },
};

/** Every option, with the defaults that qless-core lists. */
export async function listedConfig(call: Call): Promise<Config> {
  const set = await setOptions(call);
  const listed = Object.entries({ ...DEFAULTS, ...set });
  return Object.fromEntries(listed.filter(([name]) => !UNLISTED.includes(name) || name in set));
}

/** Every option, with the defaults of reqless and its values as texts. */
export async function reqlessConfig(call: Call): Promise<Config> {
  const defaults = REQLESS_OPTIONS.map((name) => [name, DEFAULTS[name]]);
  const all: Config = { application: 'reqless', ...Object.fromEntries(defaults), ...(await setOptions(call)) };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]));
}

function toValue(value: unknown): ConfigValue | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** Read once for each call of a command. */
const configs = new WeakMap<Call, Promise<Config>>();

export async function readConfig(call: Call): Promise<Config> {
  const known = configs.get(call);
  if (known !== undefined) return known;
  const config = setOptions(call).then((set) => ({ ...DEFAULTS, ...set }));
  configs.set(call, config);
  return config;
}

async function setOptions({ longhaul }: Call): Promise<Config> {
  const record = await longhaul.store.records.get(KIND, KEY);
  return record === null ? {} : (JSON.parse(record.value) as Config);
}

export async function configNumber(call: Call, option: string): Promise<number> {
  return Number((await readConfig(call))[option]);
}

/** How long a lock of this queue lasts; 0 or less: it has expired when it is given. */
export function heartbeatMs(config: Config, queue: string): number {
  return Number(config[`${queue}-heartbeat`] ?? config['heartbeat']) * 1_000;
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
  throw new LonghaulError(
    'store-unavailable',
    'the configuration is being changed by too many callers at once: try again',
  );
}

/** Sets a queue up as qless has it, unless that was done. Returns its settings. */
export async function useQueue(call: Call, queue: string): Promise<Pick<QueueSettings, 'state'>> {
  checkQueueName(queue);
  const record = await call.longhaul.store.records.get(QUEUE_RECORD, queue);
  if (record !== null && isQless(queue, record.value)) return settingsOf(settingsIn(record));
  return call.longhaul.queue(queue).configure(settingsFor(queue, await readConfig(call)));
}

/** Returns the names of the queues, in order. */
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
  const { exhaustedGroup: group, lostGraceMs = 0 } = JSON.parse(value) as Partial<QueueSettings>;
  return group === exhaustedGroup(queue) && lostGraceMs >= LOST_SLACK_MS;
}

const HEARTBEATS_A_LEASE = 4;

function settingsFor(queue: string, config: Config): SettingsInput {
  const seconds = (option: string): number => Math.round(Number(config[option]) * 1_000);
  const days = (option: string): number => Math.min(MAX_DAYS, Math.max(1, Math.ceil(Number(config[option]))));
  const lease = Math.max(MIN_LEASE_MS, Math.round(heartbeatMs(config, queue)));
  const limit = Math.max(0, Math.floor(Number(config[maxConcurrency(queue)] ?? 0)));
  return {
    lease,
    heartbeat: Math.floor(lease / HEARTBEATS_A_LEASE),
    retries: DEFAULT_RETRIES,
    onLost: 'requeue',
    lostCountsAs: 'failure',
    lostGrace: Math.max(0, seconds('grace-period')) + LOST_SLACK_MS,
    exhaustedGroup: exhaustedGroup(queue),
    statsDays: days('stats-history'),
    histogramDays: Math.min(days('histogram-history'), days('stats-history')),
    maxRunning: limit === 0 ? null : limit,
    retention: {
      done: { for: Math.max(lease, seconds('jobs-history')), count: Math.max(0, Number(config['jobs-history-count'])) },
    },
  };
}
