/**
 * A command as data: help, errors, shell completion and docs/cli.md are generated from it. The code of a command is
 * loaded only when the command runs, so the table adds nothing to the start time.
 */
import type { Args } from './args.ts';

/** The values that shell completion offers for an argument. */
export type CompletionKind = 'queue' | 'job' | 'file' | 'directory' | 'command' | readonly string[];

export interface OptionSpec {
  readonly type: 'flag' | 'text' | 'list';
  readonly description: string;
  readonly short?: string;
  /** The placeholder of the value in the help: `N`, `FILE`. */
  readonly value?: string;
  readonly completes?: CompletionKind;
}
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface Example {
  readonly line: string;
  readonly description: string;
}

export type Run = (args: Args) => Promise<number>;

export interface CommandSpec {
  readonly name: string;
  /** Usage lines without the leading `longhaul NAME`. */
  readonly usage: readonly string[];
  /** One line in the imperative, without a capital and a full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly options: OptionSpecs;
  readonly examples: readonly Example[];
  readonly completes?: CompletionKind;
  /** The command parses its arguments itself, because their grammar is not Longhaul's. */
  readonly parsesOwnArgs?: boolean;
  load(): Promise<Run>;
}

export const HOME: OptionSpecs = {
  home: {
    type: 'text',
    value: 'DIR',
    completes: 'directory',
    description: 'data directory (default: LONGHAUL_HOME, then ./longhaul)',
  },
};

export const TARGET: OptionSpecs = {
  ...HOME,
  store: {
    type: 'text',
    value: 'ADDRESS',
    description: 'store or node to use: redis://…, http://…, unix:… or a directory (default: LONGHAUL_STORE)',
  },
};

export const JSON_OUTPUT: OptionSpecs = { json: { type: 'flag', description: 'print JSON' } };
export const YES: OptionSpecs = { yes: { type: 'flag', short: 'y', description: 'do not ask for confirmation' } };
