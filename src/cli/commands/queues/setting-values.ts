/** The value of each setting as text, with its description. The types make the table complete. */
import { SETTING_DESCRIPTIONS } from '../../../core/settings/setting-descriptions.ts';
import type { Keep, QueueSettings, Retained } from '../../../core/settings/settings.ts';
import { RETAINED } from '../../../core/settings/settings.ts';
import type { SettingsInput } from '../../../core/settings/settings-input.ts';
import { bytes, exactDuration } from '../../../wire/spans.ts';

export interface SettingDisplay {
  readonly about: string;
  of(settings: QueueSettings): string;
}

const orNone = (text: string | null): string => text ?? 'none';
const time = (ms: number | null): string => (ms === null ? 'none' : exactDuration(ms));

const VALUES: Readonly<Record<keyof SettingsInput, SettingDisplay['of']>> = {
  state: ({ state }) => state,
  note: ({ note }) => orNone(note),
  concurrency: ({ concurrency }) => String(concurrency),
  maxRunning: ({ maxRunning }) => (maxRunning === null ? 'none' : String(maxRunning)),
  keys: keysText,
  coalesce: ({ coalesce }) => (coalesce === null ? 'none' : coalesceText(coalesce)),
  throttles: ({ throttles }) => throttles.join(', ') || 'none',
  needs: ({ needs }) => needs.replaceAll(',', ', ') || 'none',
  rate: ({ rate }) => (rate === null ? 'none' : `${rate.count}/${time(rate.ms)}`),
  priority: ({ priority }) => String(priority),
  lease: ({ leaseMs }) => time(leaseMs),
  heartbeat: ({ heartbeatMs }) => time(heartbeatMs),
  retries: ({ retries }) => String(retries),
  backoff: ({ backoff }) => backoffText(backoff),
  maxResends: ({ maxResends }) => String(maxResends),
  maxCrashes: ({ maxCrashes }) => String(maxCrashes),
  onLost: ({ onLost }) => onLost,
  lostCountsAs: ({ lostCountsAs }) => lostCountsAs,
  lostGrace: ({ lostGraceMs }) => time(lostGraceMs),
  exhaustedGroup: ({ exhaustedGroup }) => orNone(exhaustedGroup),
  onDependencyFailed: ({ onDependencyFailed }) => onDependencyFailed,
  maxRuntime: ({ maxRuntimeMs }) => time(maxRuntimeMs),
  maxSilence: ({ maxSilenceMs }) => time(maxSilenceMs),
  grace: ({ graceMs }) => time(graceMs),
  hooks: ({ hooks }) => hooks.map(({ url, on }) => `${url} (${on.join(', ')})`).join('; ') || 'none',
  search: ({ search }) => search.join(', ') || 'none',
  statsDays: ({ statsDays }) => String(statsDays),
  histogramDays: ({ histogramDays }) => String(histogramDays),
  retention: ({ retention }) => retentionText(retention),
  storedLogs: ({ storedLogs }) => `${bytes(storedLogs.attempt)} an attempt, ${bytes(storedLogs.queue)} a queue`,
  script: ({ script }) => orNone(script),
  execPrefix: ({ execPrefix }) => execPrefix.join(' ') || 'none',
  handshake: ({ handshake }) => handshake,
  env: ({ env }) => Object.keys(env).join(', ') || 'none',
  stdin: ({ stdin }) => stdin,
  nice: ({ nice }) => String(nice),
  user: ({ user }) => user ?? 'the user of the node',
  umask: ({ umask }) => umask.toString(8).padStart(3, '0'),
  limits: ({ limits }) => limitsText(limits),
  stage: ({ stage }) => stage,
};

export const SETTINGS: Readonly<Record<string, SettingDisplay>> = Object.fromEntries(
  Object.entries(SETTING_DESCRIPTIONS).map(([name, about]) => [
    name,
    { about, of: VALUES[name as keyof SettingsInput] },
  ]),
);

function coalesceText({ by, scheduled }: NonNullable<QueueSettings['coalesce']>): string {
  return `by ${by.join(', ')}${scheduled === true ? ', scheduled jobs too' : ''}`;
}

function keysText({ keys }: QueueSettings): string {
  if (keys === null) return 'none';
  const by = keys.by.length === 0 ? 'as given' : `by ${keys.by.join(', ')}`;
  return keys.limit === null ? by : `${by}, at most ${keys.limit} at once`;
}

function backoffText({ kind, delayMs, maxMs, delaysMs, jitter }: QueueSettings['backoff']): string {
  if (kind === 'list') return delaysMs.map(time).join(', ');
  if (kind === 'fixed') return time(delayMs);
  return `exponential, ${time(delayMs)} to ${time(maxMs)}${jitter > 0 ? ', with jitter' : ''}`;
}

function retentionText(retention: QueueSettings['retention']): string {
  const own = RETAINED.filter((kind) => Object.values(retention[kind]).some((limit) => limit !== null));
  const others = RETAINED.filter((kind) => !own.includes(kind));
  const [forever, withJob] = [others.filter(isOfJobs), others.filter((kind) => !isOfJobs(kind))];
  return [
    ...own.map((kind) => `${kind} ${keepText(retention[kind])}`),
    ...forever.map((kind) => `${kind} forever`),
    ...(withJob.length === 0 ? [] : [`${withJob.join(', ')} with the job`]),
  ].join('; ');
}

const isOfJobs = (kind: Retained): boolean => kind === 'done' || kind === 'failed' || kind === 'cancelled';

function keepText({ ms, count, bytes: maxBytes }: Keep): string {
  const limits = [
    ms === null ? null : time(ms),
    count === null ? null : String(count),
    maxBytes === null ? null : bytes(maxBytes),
  ];
  return limits.filter((limit) => limit !== null).join(' or ');
}

function limitsText(limits: QueueSettings['limits']): string {
  const { cpuMs, memoryBytes, addressSpaceBytes, processes, fileBytes, logBytes } = limits;
  const texts = [
    cpuMs === null ? null : `cpu ${time(cpuMs)}`,
    memoryBytes === null ? null : `memory ${bytes(memoryBytes)}`,
    addressSpaceBytes === null ? null : `addressSpace ${bytes(addressSpaceBytes)}`,
    processes === null ? null : `processes ${processes}`,
    fileBytes === null ? null : `fileSize ${bytes(fileBytes)}`,
    logBytes === null ? null : `log ${bytes(logBytes)}`,
  ];
  return texts.filter((text) => text !== null).join(', ') || 'none';
}
