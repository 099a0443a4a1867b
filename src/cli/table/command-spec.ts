/**
 * What a command is, as data: help, errors, completion and docs/cli.md are all made from it. Its code is loaded only
 * when it is run, so that the table costs a start nothing.
 */
import type { Call } from './call.ts';

/** What can stand in a place, for completion. */
export type Kind = 'queue' | 'job' | 'file' | 'folder' | 'command' | readonly string[];

export interface OptionSpec {
  readonly type: 'flag' | 'text' | 'list';
  readonly about: string;
  readonly short?: string;
  /** What stands for the value in the help: `N`, `FILE`. */
  readonly value?: string;
  readonly completes?: Kind;
}
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface Example {
  readonly line: string;
  readonly says: string;
}

export type Run = (call: Call) => Promise<number>;

export interface CommandSpec {
  readonly name: string;
  /** One line each, without the words `longhaul NAME`. */
  readonly usage: readonly string[];
  /** One line. */
  readonly summary: string;
  readonly about?: string;
  readonly options: OptionSpecs;
  readonly examples: readonly Example[];
  readonly completes?: Kind;
  /** It reads its words itself: what they mean is not for this table to say. */
  readonly readsWords?: boolean;
  load(): Promise<Run>;
}

export const HOME: OptionSpecs = {
  home: {
    type: 'text',
    value: 'FOLDER',
    completes: 'folder',
    about: 'the home folder; else LONGHAUL_HOME, else ./longhaul',
  },
};

export const TARGET: OptionSpecs = {
  ...HOME,
  store: {
    type: 'text',
    value: 'ADDRESS',
    about: 'redis://…, http://…, unix:… or a folder instead of the home; else LONGHAUL_STORE',
  },
};

export const JSON_OUTPUT: OptionSpecs = { json: { type: 'flag', about: 'print JSON, for programs' } };
export const YES: OptionSpecs = { yes: { type: 'flag', short: 'y', about: 'do it without asking' } };
