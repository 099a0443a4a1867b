/**
 * RQ's config.json, read into Longhaul's settings.
 *
 *     {"name":"relay","script":"./code/relay_script.rb","num_workers":"1","exec_prefix":"","fsync":"no-fsync","ordering":"none"}
 *
 * What RQ never did itself (`fsync`, `ordering`) is taken with a notice. A prefix given as a text is split into words
 * and never reaches a shell; `bash -lc`, RQ's default, becomes an argv in which the script's path stays one word.
 */
import type { Check, Checked } from '../../core/input/check.ts';
import { checked, fields, integer, listOf, mapOf, object, text } from '../../core/input/check.ts';
import { queueName } from '../../core/job/names.ts';
import type { SettingsInput } from '../../core/settings/settings-input.ts';
import type { FileSchedule } from './file-schedules.ts';

export interface ReadConfig {
  readonly settings: SettingsInput;
  /** By the end of their name. */
  readonly schedules: Readonly<Record<string, FileSchedule>>;
  /** What was taken but does nothing, or not yet, in words. */
  readonly notices: readonly string[];
}

/** Words by which RQ's own format is told from ours. */
const RQ_WORDS = [
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
  return RQ_WORDS.some((word) => word in config);
}

const LOGIN_SHELL = ['bash', '-lc', 'exec "$@"', '--'];
const RQ_NICE = 19;
const RQ_LATE_MS = 60_000;
const anything: Check<unknown> = (value) => value;
const anyText = text({ max: 4_096 });

/** RQ writes numbers as texts. */
const numberOrText: Check<number> = (value, report, path) => {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return integer(1, 10_000)(number, report, path);
};

const parameter: Check<number> = (value, report, path) =>
  integer(1, 4)(typeof value === 'string' && /^\d$/.test(value) ? Number(value) : value, report, path);

const PARAMETERS = { param1: anyText, param2: anyText, param3: anyText, param4: anyText };

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
  schedule: listOf(fields({ cron: anyText }, PARAMETERS), 100),
  admin_status: anything,
  oper_status: anything,
  url: anything,
};

export function readRqConfig(config: object): ReadConfig {
  const given = checked('config.json', config, object(shape));
  const { notices: prefixNotices, words } = execPrefix(given.exec_prefix);
  return {
    settings: {
      ...(given.script !== undefined && { script: given.script }),
      concurrency: given.num_workers ?? 1,
      execPrefix: words,
      env: withoutOurs(given.env_vars ?? {}),
      handshake: 'required',
      stdin: 'null',
      nice: RQ_NICE,
      ...together(given),
    },
    schedules: schedulesOf(given.schedule ?? []),
    notices: [...prefixNotices, ...idleWords(given)],
  };
}

/** Equal messages are folded into the one that starts, and of those that block one another one runs at once. */
function together(given: Checked<typeof shape>): Pick<SettingsInput, 'coalesce' | 'keys'> {
  const isOld = given.coalesce_params === undefined && isYes(given.coalesce);
  const folding = isOld
    ? [1, 2, 3, 4].filter((number) => isYes(oldMark(given, number)))
    : (given.coalesce_params ?? []);
  const blocking = given.blocking_params ?? [];
  const fieldsOf = (numbers: readonly number[]) =>
    [...new Set(numbers)].sort((a, b) => a - b).map((number) => `param${number}`);
  return {
    ...(folding.length > 0 && { coalesce: { by: fieldsOf(folding) } }),
    ...(blocking.length > 0 && { keys: { by: fieldsOf(blocking), limit: 1 } }),
  };
}

/** The way before `coalesce_params`: `coalesce` says that it is done, and `coalesce_param1` and so on by what. */
function oldMark(given: Checked<typeof shape>, number: number): unknown {
  return given[`coalesce_param${number}` as 'coalesce_param1'];
}

const isYes = (value: unknown): boolean => value === true || value === 1 || value === 'yes' || value === '1';

/** By the clock of this machine, as RQ had it; late by a minute at most, and never made up. */
function schedulesOf(given: NonNullable<Checked<typeof shape>['schedule']>): Record<string, FileSchedule> {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return Object.fromEntries(
    given.map(({ cron, ...data }, place) => [
      `cron-${place + 1}`,
      { cron, zone, data, overlap: 'allow', catchUp: RQ_LATE_MS },
    ]),
  );
}

/** RQ itself never let a queue's configuration set its own variables. */
function withoutOurs(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !/^(RQ|LONGHAUL)_/.test(name)));
}

function execPrefix(given: string | undefined): { words: readonly string[]; notices: readonly string[] } {
  if (given === undefined || /^bash\s+-lc$/.test(given.trim())) return { words: LOGIN_SHELL, notices: [] };
  if (/[;&|<>$`(){}*?[\]\\'"#~\n]/.test(given)) {
    checked('config.json', given, (value, report) =>
      report('exec_prefix', `must be plain words: no shell reads it, not ${String(value)}`),
    );
  }
  return { words: given.split(/\s+/).filter((word) => word !== ''), notices: [] };
}

function idleWords(given: Checked<typeof shape>): readonly string[] {
  const never = (['fsync', 'ordering'] as const).filter((word) => given[word] !== undefined);
  const isEmpty = isYes(given.coalesce) && together(given).coalesce === undefined;
  return [
    ...never.map(
      (word) =>
        `${word} is taken and does nothing: every accepted job is on disk, and order is by priority, time and insertion`,
    ),
    ...(isEmpty ? ['coalesce does nothing: no coalesce_params say which messages are equal'] : []),
  ];
}
