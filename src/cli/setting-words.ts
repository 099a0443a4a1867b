/** What each setting means, in words, and how it stands, as somebody would write it. Checked by its types to be complete. */
import type { Keep, QueueSettings } from '../core/settings.ts';
import type { SettingsInput } from '../core/settings-input.ts';
import { bytes, exactDuration } from '../wire/spans.ts';

export interface SettingWords {
  readonly about: string;
  of(settings: QueueSettings): string;
}

const orNone = (text: string | null): string => text ?? 'none';
const time = (ms: number | null): string => (ms === null ? 'none' : exactDuration(ms));
const keep = ({ ms, count }: Keep): string => `${time(ms)}${count === null ? '' : ` or ${count} jobs`}`;

export const SETTINGS: Readonly<Record<keyof SettingsInput, SettingWords>> = {
  state: { about: 'up; paused takes jobs in and starts none; down refuses them too', of: ({ state }) => state },
  note: { about: 'why it is paused or down', of: ({ note }) => orNone(note) },
  concurrency: { about: 'how many of its jobs one node runs at once', of: ({ concurrency }) => String(concurrency) },
  priority: { about: 'of jobs that name none; lower runs first', of: ({ priority }) => String(priority) },
  lease: { about: 'how long a silent worker keeps a job', of: ({ leaseMs }) => time(leaseMs) },
  heartbeat: { about: 'how often a worker renews its leases', of: ({ heartbeatMs }) => time(heartbeatMs) },
  retries: { about: 'how often a failed job is tried again', of: ({ retries }) => String(retries) },
  backoff: { about: 'how long it waits before that', of: ({ backoff }) => backoffWords(backoff) },
  maxResends: { about: 'how often a job may be sent again', of: ({ maxResends }) => String(maxResends) },
  maxCrashes: {
    about: 'how often its worker may be lost until it has failed',
    of: ({ maxCrashes }) => String(maxCrashes),
  },
  onLost: { about: 'a job whose worker is lost: requeue, fail, or hold for an operator', of: ({ onLost }) => onLost },
  lostCountsAs: { about: 'what a lost worker is counted as: crash or failure', of: ({ lostCountsAs }) => lostCountsAs },
  lostGrace: { about: 'how long past its end a lease is left alone', of: ({ lostGraceMs }) => time(lostGraceMs) },
  exhaustedGroup: {
    about: 'the failure group of jobs whose retries were used up; their own by default',
    of: ({ exhaustedGroup }) => orNone(exhaustedGroup),
  },
  onDependencyFailed: {
    about: 'a job waits for one that fails, is cancelled or deleted: hold it, fail it too, or run it',
    of: ({ onDependencyFailed }) => onDependencyFailed,
  },
  maxRuntime: { about: 'an attempt that takes longer is ended', of: ({ maxRuntimeMs }) => time(maxRuntimeMs) },
  maxSilence: {
    about: 'an attempt that says nothing for longer is ended',
    of: ({ maxSilenceMs }) => time(maxSilenceMs),
  },
  grace: { about: 'how long an attempt may take to stop before it is killed', of: ({ graceMs }) => time(graceMs) },
  statsDays: { about: 'how many days of statistics are kept', of: ({ statsDays }) => String(statsDays) },
  histogramDays: {
    about: 'how many days of them have their histograms',
    of: ({ histogramDays }) => String(histogramDays),
  },
  retention: { about: 'how long ended jobs are kept', of: ({ retention }) => retentionWords(retention) },
  script: { about: 'the executable that does its jobs', of: ({ script }) => orNone(script) },
  execPrefix: { about: 'words put before the script', of: ({ execPrefix }) => execPrefix.join(' ') || 'none' },
  handshake: { about: 'required: a script must say how it ended', of: ({ handshake }) => handshake },
  env: { about: 'variables for its scripts', of: ({ env }) => Object.keys(env).join(', ') || 'none' },
  stdin: { about: "a script's input: its job's data, or null for none", of: ({ stdin }) => stdin },
  nice: { about: 'how much its scripts give way to others', of: ({ nice }) => String(nice) },
  user: { about: 'who its scripts run as', of: ({ user }) => user ?? 'the node itself' },
  umask: {
    about: 'what others may not do with the files they make',
    of: ({ umask }) => umask.toString(8).padStart(3, '0'),
  },
  limits: { about: 'what one attempt may use', of: ({ limits }) => limitsWords(limits) },
  stage: { about: 'whether files are copied for an attempt or linked', of: ({ stage }) => stage },
};

function backoffWords({ kind, delayMs, maxMs, delaysMs, jitter }: QueueSettings['backoff']): string {
  if (kind === 'list') return delaysMs.map(time).join(', ');
  if (kind === 'fixed') return time(delayMs);
  return `exponential, ${time(delayMs)} to ${time(maxMs)}${jitter > 0 ? ', with jitter' : ''}`;
}

function retentionWords({ done, failed, cancelled }: QueueSettings['retention']): string {
  return `done ${keep(done)}, failed ${keep(failed)}, cancelled ${keep(cancelled)}`;
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
