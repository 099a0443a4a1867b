/**
 * What an audited call acts on, and its values before and after the call. Reads only; never returns a secret: values of
 * the environment and the data of jobs are compared and not shown.
 */
import type { Job } from '../../core/job/job.ts';
import { THROTTLE_RECORD } from '../../core/limits/throttle.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Schedule } from '../../core/schedules/schedule.ts';
import { SCHEDULE_RECORD } from '../../core/schedules/schedule.ts';
import { SETTING_NAMES } from '../../core/settings/global-settings.ts';
import { GLOBAL_SETTINGS_KEY, QUEUE_RECORD } from '../../core/settings/settings.ts';
import { keyOfSetting } from '../../core/settings/settings-input.ts';
import type { AuditSubject } from '../../wire/audit/audit-row.ts';
import { describeRule } from '../../wire/describe-rule.ts';
import { plural } from '../../wire/spans.ts';
import type { Call, Route } from '../http/route.ts';
import { TOKEN_RECORD } from './tokens.ts';

export type AuditValues = Readonly<Record<string, unknown>>;

/** The subject of a call, and its values; null if it does not exist, or has none that an audit row shows. */
export interface AuditState {
  readonly subject: AuditSubject;
  readonly values: AuditValues | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns what the call acts on and its present values; null for a route that is not audited. */
export async function auditState(route: Route, call: Call): Promise<AuditState | null> {
  if (!route.audit || call.principal.node !== undefined) return null;
  const subject = subjectOf(route.name, { params: fieldsOf(call.params), body: fieldsOf(call.body) });
  return subject === null ? null : stateOf(call.context.store, subject);
}

const subject = (kind: string, key: unknown, name: unknown = null): AuditSubject => ({
  kind,
  key: String(key),
  name: typeof name === 'string' ? name : null,
  queue: null,
});

function subjectOf(route: string, { params, body }: { params: Fields; body: Fields }): AuditSubject | null {
  const [area = '', operation = ''] = route.split('.');
  if (area === 'store') return storeSubject(operation, body['argument']);
  if (area === 'settings') return subject(QUEUE_RECORD, GLOBAL_SETTINGS_KEY);
  if (area === 'schedules') return subject(SCHEDULE_RECORD, params['schedule']);
  if (area === 'throttles') return subject(THROTTLE_RECORD, params['name']);
  if (area === 'tokens') return subject(TOKEN_RECORD, params['id'] ?? 'new', body['name']);
  if (area === 'nodes') return subject('node', params['id']);
  if (area === 'workers') return subject('worker', params['id']);
  if (area === 'failures')
    return subject('jobs', `jobs of ${String(body['queue'])} that failed with ${String(body['group'])}`);
  if (operation.startsWith('bulk-')) return subject('jobs', selectionWords(body));
  if (params['id'] !== undefined) return subject('job', params['id']);
  const queue = params['queue'] ?? (area === 'queues' ? body['name'] : undefined);
  return queue === undefined ? null : subject(QUEUE_RECORD, queue);
}

/** Returns the subject of a call of the store ports: a record, a worker, or jobs by their ids. */
function storeSubject(operation: string, argument: unknown): AuditSubject {
  const { kind, key, id } = fieldsOf(argument);
  if (operation === 'records') return subject(String(kind), key);
  if (operation === 'endWorker') return subject('worker', id);
  const targets: readonly unknown[] = Array.isArray(argument) ? argument : [];
  const ids = targets.map((target) => (typeof target === 'string' ? target : fieldsOf(target)['id']));
  return ids.length === 1 ? subject('job', ids[0]) : subject('jobs', plural(ids.length, 'job'));
}

function selectionWords({ ids, query }: Fields): string {
  if (Array.isArray(ids)) return plural(ids.length, 'job');
  const filters = Object.entries(fieldsOf(query)).map(([name, value]) => `${name} ${String(value)}`);
  return `jobs with ${filters.join(', ')}`;
}

/** Reads the values of a subject again, after the call. */
export async function stateOf({ jobs, records }: Store, of: AuditSubject): Promise<AuditState> {
  if (of.kind === 'job') {
    const [job] = await jobs.find([of.key]);
    return job ? { subject: { ...of, name: job.name, queue: job.queue }, values: jobValues(job) } : noValues(of);
  }
  const read = VALUES[of.kind];
  if (read === undefined) return noValues(of);
  const record = await records.get(of.kind, of.key);
  if (record === null) return noValues(of);
  try {
    const value = fieldsOf(JSON.parse(record.value));
    return { subject: { ...of, name: of.name ?? tokenName(of, value) }, values: read(value) };
  } catch {
    // A client of the store ports may write any text: such a record is named and not shown.
    return noValues(of);
  }
}

const noValues = (of: AuditSubject): AuditState => ({ subject: of, values: null });
const tokenName = ({ kind }: AuditSubject, { name }: Fields): string | null =>
  kind === TOKEN_RECORD && typeof name === 'string' ? name : null;

/** The values that a row shows, by kind of record. A record of another kind is named and not shown. */
const VALUES: Readonly<Record<string, (value: Fields) => AuditValues | null>> = {
  [QUEUE_RECORD]: (value) =>
    value['state'] === 'deleted'
      ? null
      : Object.fromEntries(SETTING_NAMES.map((name) => [name, durationOr(keyOfSetting(name), value)])),
  [THROTTLE_RECORD]: (value) => value,
  [SCHEDULE_RECORD]: (value) => scheduleValues(value as unknown as Schedule),
  [TOKEN_RECORD]: ({ role }) => ({ role }),
};

const durationOr = (key: string, value: Fields): unknown =>
  key.endsWith('Ms') && typeof value[key] === 'number' ? { ms: value[key] } : value[key];

const scheduleValues = ({ definition, pausedAt, note }: Schedule): AuditValues => ({
  rule: describeRule(definition.rule),
  from: timeOf(definition.fromAt),
  until: timeOf(definition.untilAt),
  overlap: definition.overlap,
  catchUp: { ms: definition.catchUpMs },
  backlog: definition.backlog,
  jitter: { ms: definition.jitterMs },
  queue: definition.job.queue,
  data: definition.job.data,
  options: definition.job.options,
  paused: pausedAt !== null,
  note,
});

const jobValues = ({ state, queue, name, priority, tags, runAt, data }: Job): AuditValues => ({
  state,
  queue,
  name,
  priority,
  tags,
  runAt: timeOf(runAt),
  data,
});

const timeOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
