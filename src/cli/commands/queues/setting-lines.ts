/** How each setting stands, as somebody would write it, with what it means. Checked by its types to be complete. */
import { SETTING_WORDS } from '../../../core/settings/setting-descriptions.ts';
import type { Keep, QueueSettings, Retained } from '../../../core/settings/settings.ts';
import { RETAINED } from '../../../core/settings/settings.ts';
import type { SettingsInput } from '../../../core/settings/settings-input.ts';
import { bytes, exactDuration } from '../../../wire/spans.ts';

export interface SettingWords {
  readonly about: string;
  of(settings: QueueSettings): string;
}

const orNone = (text: string | null): string => text ?? 'none';
const time = (ms: number | null): string => (ms === null ? 'none' : exactDuration(ms));

const VALUES: Readonly<Record<keyof SettingsInput, SettingWords['of']>> = {
  state: ({ state }) => state,
  note: ({ note }) => orNone(note),
  concurrency: ({ concurrency }) => String(concurrency),
  maxRunning: ({ maxRunning }) => (maxRunning === null ? 'none' : String(maxRunning)),
  keys: keyWords,
  coalesce: ({ coalesce }) => (coalesce === null ? 'none' : `by ${coalesce.by.join(', ')}`),
  throttles: ({ throttles }) => throttles.join(', ') || 'none',
  needs: ({ needs }) => needs.replaceAll(',', ', ') || 'none',
  rate: ({ rate }) => (rate === null ? 'none' : `${rate.count}/${time(rate.ms)}`),
  priority: ({ priority }) => String(priority),
  lease: ({ leaseMs }) => time(leaseMs),
  heartbeat: ({ heartbeatMs }) => time(heartbeatMs),
  retries: ({ retries }) => String(retries),
  backoff: ({ backoff }) => backoffWords(backoff),
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
  retention: ({ retention }) => retentionWords(retention),
  script: ({ script }) => orNone(script),
  execPrefix: ({ execPrefix }) => execPrefix.join(' ') || 'none',
  handshake: ({ handshake }) => handshake,
  env: ({ env }) => Object.keys(env).join(', ') || 'none',
  stdin: ({ stdin }) => stdin,
  nice: ({ nice }) => String(nice),
  user: ({ user }) => user ?? 'the node itself',
  umask: ({ umask }) => umask.toString(8).padStart(3, '0'),
  limits: ({ limits }) => limitsWords(limits),
  stage: ({ stage }) => stage,
};

export const SETTINGS: Readonly<Record<string, SettingWords>> = Object.fromEntries(
  Object.entries(SETTING_WORDS).map(([name, about]) => [name, { about, of: VALUES[name as keyof SettingsInput] }]),
);

function keyWords({ keys }: QueueSettings): string {
  if (keys === null) return 'none';
  const by = keys.by.length === 0 ? 'as given' : `by ${keys.by.join(', ')}`;
  return keys.limit === null ? by : `${by}, ${keys.limit} at once`;
}

function backoffWords({ kind, delayMs, maxMs, delaysMs, jitter }: QueueSettings['backoff']): string {
  if (kind === 'list') return delaysMs.map(time).join(', ');
  if (kind === 'fixed') return time(delayMs);
  return `exponential, ${time(delayMs)} to ${time(maxMs)}${jitter > 0 ? ', with jitter' : ''}`;
}

function retentionWords(retention: QueueSettings['retention']): string {
  const own = RETAINED.filter((kind) => Object.values(retention[kind]).some((limit) => limit !== null));
  const others = RETAINED.filter((kind) => !own.includes(kind));
  const [forEver, withJob] = [others.filter(isOfJobs), others.filter((kind) => !isOfJobs(kind))];
  return [
    ...own.map((kind) => `${kind} ${keepWords(retention[kind])}`),
    ...forEver.map((kind) => `${kind} for ever`),
    ...(withJob.length === 0 ? [] : [`${withJob.join(', ')} with the job`]),
  ].join('; ');
}

const isOfJobs = (kind: Retained): boolean => kind === 'done' || kind === 'failed' || kind === 'cancelled';

function keepWords({ ms, count, bytes: most }: Keep): string {
  const limits = [
    ms === null ? null : time(ms),
    count === null ? null : String(count),
    most === null ? null : bytes(most),
  ];
  return limits.filter((limit) => limit !== null).join(' or ');
}

function limitsWords({ cpuMs, memoryBytes, processes, fileBytes, logBytes }: QueueSettings['limits']): string {
  const words = [
    cpuMs === null ? null : `cpu ${time(cpuMs)}`,
    memoryBytes === null ? null : `memory ${bytes(memoryBytes)}`,
    processes === null ? null : `processes ${processes}`,
    fileBytes === null ? null : `fileSize ${bytes(fileBytes)}`,
    logBytes === null ? null : `log ${bytes(logBytes)}`,
  ];
  return words.filter((word) => word !== null).join(', ') || 'none';
}
