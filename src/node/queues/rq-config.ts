/**
 * Converts RQ's config.json to Longhaul's settings.
 *
 *     {"name":"relay","script":"./code/relay_script.rb","num_workers":"1","exec_prefix":"","fsync":"no-fsync","ordering":"none"}
 *
 * Settings that RQ never implemented (`fsync`, `ordering`) are accepted with a notice. A prefix is split into words and
 * never reaches a shell; `bash -lc`, RQ's default, becomes an argv in which the script's path stays one argument.
 */
import type { Check, Checked } from '../../core/input/check.ts';
import { checked, fields, integer, listOf, mapOf, object, text } from '../../core/input/check.ts';
import { queueName } from '../../core/job/names.ts';
import type { SettingsInput } from '../../core/settings/settings-input.ts';
import type { FileSchedule } from './file-schedules.ts';

export interface ReadConfig {
  readonly settings: SettingsInput;
  /** By the last part of their names. */
  readonly schedules: Readonly<Record<string, FileSchedule>>;
  /** Settings that were accepted but have no effect. */
  readonly notices: readonly string[];
}

/** Keys that only RQ's format has. */
const RQ_KEYS = [
  'num_workers',
  'exec_prefix',
  'env_vars',
  'fsync',
  'ordering',
  'coalesce_params',
  'blocking_params',
  'coalesce_param1',
  'coalesce_param2',
  'coalesce_param3',
  'coalesce_param4',
];

export function isRqConfig(config: object): boolean {
  return RQ_KEYS.some((key) => key in config);
}

export const LOGIN_SHELL: readonly string[] = ['bash', '-lc', 'exec "$@"', '--'];
const RQ_NICE = 19;
const RQ_UMASK = '022';
const RQ_LATE_MS = 60_000;
const anything: Check<unknown> = (value) => value;
const anyText = text({ max: 4_096 });

/** RQ writes numbers as strings. */
const numberOrText: Check<number> = (value, report, path) => {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return integer(1, 10_000)(number, report, path);
};

const parameter: Check<number> = (value, report, path) =>
  integer(1, 4)(typeof value === 'string' && /^\d$/.test(value) ? Number(value) : value, report, path);

/** RQ writes null for a value that is not set. */
function orNothing<T>(check: Check<T>): Check<T | undefined> {
  return (value, report, path) => (value === null ? undefined : check(value, report, path));
}
const optionalText = orNothing(anyText);
const PARAMETERS = { param1: optionalText, param2: optionalText, param3: optionalText, param4: optionalText };

const shape = {
  name: queueName,
  script: text({ max: 4_096, pattern: /^\P{Cc}+$/u, must: 'must be a path' }),
  num_workers: numberOrText,
  exec_prefix: anyText,
  env_vars: mapOf(text({ max: 65_536 }), 500),
  fsync: anyText,
  ordering: anyText,
  coalesce: anything,
  coalesce_param1: anything,
  coalesce_param2: anything,
  coalesce_param3: anything,
  coalesce_param4: anything,
  coalesce_params: listOf(parameter, 4),
  blocking_params: listOf(parameter, 4),
  schedule: listOf(fields({ cron: anyText }, { ...PARAMETERS, params: orNothing(object(PARAMETERS)) }), 100),
  admin_status: anything,
  oper_status: anything,
  url: anything,
};

export function readRqConfig(config: object): ReadConfig {
  const set = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
  const given = checked('config.json', set, object(shape));
  const { notices: prefixNotices, words } = execPrefix(given.exec_prefix);
  return {
    settings: {
      ...(given.script !== undefined && { script: given.script }),
      concurrency: given.num_workers ?? 1,
      execPrefix: words,
      env: withoutReserved(given.env_vars ?? {}),
      handshake: 'required',
      stdin: 'null',
      nice: RQ_NICE,
      umask: RQ_UMASK,
      ...keySettings(given),
    },
    schedules: schedulesOf(given.schedule ?? []),
    notices: [...prefixNotices, ...unusedNotices(given)],
  };
}

/** Equal messages are coalesced into the one that starts, due or not. Of messages that block one another, one runs at a time. */
function keySettings(given: Checked<typeof shape>): Pick<SettingsInput, 'coalesce' | 'keys'> {
  const isOld = given.coalesce_params === undefined && isYes(given.coalesce);
  const coalescing = isOld
    ? [1, 2, 3, 4].filter((number) => isYes(oldFlag(given, number)))
    : (given.coalesce_params ?? []);
  const blocking = given.blocking_params ?? [];
  const fieldsOf = (numbers: readonly number[]) =>
    [...new Set(numbers)].sort((a, b) => a - b).map((number) => `param${number}`);
  return {
    ...(coalescing.length > 0 && { coalesce: { by: fieldsOf(coalescing), scheduled: true } }),
    ...(blocking.length > 0 && { keys: { by: fieldsOf(blocking), limit: 1 } }),
  };
}

/**
 * The format before `coalesce_params`: `coalesce` turns it on, and `coalesce_param1` and so on select the parameters.
 */
function oldFlag(given: Checked<typeof shape>, number: number): unknown {
  return given[`coalesce_param${number}` as 'coalesce_param1'];
}

const isYes = (value: unknown): boolean => [true, 1, 'true', 'yes', '1'].some((yes) => yes === value);

/** In the machine's time zone, as in RQ. A run may start up to a minute late, and a missed one is not caught up. */
function schedulesOf(given: NonNullable<Checked<typeof shape>['schedule']>): Record<string, FileSchedule> {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return Object.fromEntries(
    given.map(({ cron, params, ...data }, index) => [
      `cron-${index + 1}`,
      { cron, zone, data: { ...data, ...params }, overlap: 'allow', catchUp: RQ_LATE_MS },
    ]),
  );
}

/** RQ does not let a queue's configuration set its own variables either. */
function withoutReserved(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !/^(RQ|LONGHAUL)_/.test(name)));
}

function execPrefix(given: string | undefined): { words: readonly string[]; notices: readonly string[] } {
  if (given === undefined || /^bash\s+-lc$/.test(given.trim())) return { words: LOGIN_SHELL, notices: [] };
  if (/[;&|<>$`(){}*?[\]\\'"#~\n]/.test(given)) {
    checked('config.json', given, (value, report) =>
      report('exec_prefix', `must be plain words without shell syntax, not ${String(value)}`),
    );
  }
  return { words: given.split(/\s+/).filter((word) => word !== ''), notices: [] };
}

function unusedNotices(given: Checked<typeof shape>): readonly string[] {
  const never = (['fsync', 'ordering'] as const).filter((key) => given[key] !== undefined);
  const isEmpty = isYes(given.coalesce) && keySettings(given).coalesce === undefined;
  return [
    ...never.map(
      (key) =>
        `${key} has no effect: every accepted job is on disk, and jobs are ordered by priority, time and insertion`,
    ),
    ...(isEmpty ? ['coalesce has no effect: set coalesce_params to name the parameters that must be equal'] : []),
  ];
}
