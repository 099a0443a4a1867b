/** Input checks of the settings for scripts: environment, umask and resource limits. */
import type { Check, Report } from '../input/check.ts';
import { duration, integer, mapOf, object, orNull, size, text } from '../input/check.ts';
import type { Duration } from '../input/duration.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import type { Size } from '../input/size.ts';
import type { ScriptLimits } from './settings.ts';
import { DEFAULT_SETTINGS } from './settings.ts';

export interface LimitsInput {
  cpu?: Duration | null;
  /** Real memory of all processes of the script together. */
  memory?: Size | null;
  /** Address space of each process: `ulimit -v`. */
  addressSpace?: Size | null;
  processes?: number | null;
  fileSize?: Size | null;
  log?: Size | null;
}

const MAX_VALUE = 64 * 1024;
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

const variables = mapOf(text({ max: MAX_VALUE, pattern: /^[^\u0000]*$/, must: 'must have no NUL' }), 500);
export const environment: typeof variables = described(
  schemaOf(variables),
  (value: unknown, report: Report, path: string) => {
    const given = variables(value, report, path);
    for (const name of Object.keys(given ?? {})) {
      if (!variableName.test(name)) report(`${path}.${name}`, 'is not a valid name of a variable');
    }
    return given;
  },
);

const octal = text({ max: 4, pattern: /^[0-7]{1,4}$/, must: "must be octal digits such as '027'" });
export const umask: Check<number> = described(schemaOf(octal), (value: unknown, report: Report, path: string) =>
  Number.parseInt(octal(value, report, path) ?? '0', 8),
);

const limitsShape = {
  cpu: orNull(duration(1_000)),
  memory: orNull(size),
  addressSpace: orNull(size),
  processes: orNull(integer(1, 1_000_000)),
  fileSize: orNull(size),
  log: orNull(size),
};

const limitRules = object(limitsShape);
export const limits: Check<ScriptLimits> = described(
  schemaOf(limitRules),
  (value: unknown, report: Report, path: string) => {
    const given = limitRules(value, report, path) ?? {};
    const defaults = DEFAULT_SETTINGS.limits;
    return {
      cpuMs: given.cpu ?? defaults.cpuMs,
      memoryBytes: given.memory ?? defaults.memoryBytes,
      addressSpaceBytes: given.addressSpace ?? defaults.addressSpaceBytes,
      processes: given.processes ?? defaults.processes,
      fileBytes: given.fileSize ?? defaults.fileBytes,
      logBytes: given.log === undefined ? defaults.logBytes : given.log,
    };
  },
);
