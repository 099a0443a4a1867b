/** Parses a queue's file `<name>.json`, in Longhaul's or RQ's format; the keys tell which. Pure. */
import { anything, checked, mapOf } from '../../core/input/check.ts';
import { badInput } from '../../core/ports/errors.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { mergeSettings } from '../../core/settings/settings-input.ts';
import type { FileSchedule } from './file-schedules.ts';
import { isRqConfig, type ReadConfig, readRqConfig } from './rq-config.ts';

export interface QueueFile {
  readonly settings: Partial<QueueSettings>;
  /** Secret environment variables: never written to the store. */
  readonly secrets: Readonly<Record<string, string>>;
  /** By the last part of their names; checked together with the queue's name. */
  readonly schedules: Readonly<Record<string, FileSchedule>>;
  readonly notices: readonly string[];
  readonly isRq: boolean;
}

/** Throws `bad-input` with every problem. The caller keeps the last valid settings in effect. */
export function readQueueFile(file: string, json: string): QueueFile {
  const { secrets: given, schedules: own, ...config } = parse(file, json);
  const isRq = isRqConfig(config);
  const { settings, notices, schedules }: ReadConfig = isRq
    ? readRqConfig(config)
    : { settings: config, notices: [], schedules: ownSchedules(file, own) };
  // Secrets become environment variables, so the same checks apply.
  const secrets = given === undefined ? {} : (mergeSettings({}, { env: given as Record<string, string> }).env ?? {});
  return { settings: mergeSettings({}, settings), secrets, schedules, notices, isRq };
}

const schedulesShape = mapOf(anything, 100);

function ownSchedules(file: string, given: unknown): Readonly<Record<string, FileSchedule>> {
  if (given === undefined) return {};
  return checked(file, given, schedulesShape) as Record<string, FileSchedule>;
}

function parse(file: string, json: string): { readonly secrets?: unknown; readonly schedules?: unknown } {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (error) {
    throw badInput(file, [{ path: '', message: `is not valid JSON: ${(error as Error).message}` }]);
  }
  throw badInput(file, [{ path: '', message: 'must be one JSON object' }]);
}
